"""Instances made by hand, and random ledgers, for the tests of scores."""

from types import SimpleNamespace

from hypothesis import strategies as st

TOTAL = 600.0
TASK_EVENT = {
    "episode_detection": "af",
    "af_burden": "af",
    "change_detection": "af",
    "ischemia": "ischemia",
    "pvc_burden": "pvc",
    "rare_event": "pvc",
}


def fake(task, value, events=(), duration=TOTAL, **more):
    truth = SimpleNamespace(value=value, events=tuple(events))
    return SimpleNamespace(task=task, duration=duration, truth=truth, **more)


EPISODES = ((30.0, 90.0), (120.0, 150.0), (300.0, 420.0))
BEATS = (31.5, 64.0, 200.25, 201.0, 480.0)

INSTANCES = {
    "episode_detection": fake("episode_detection", EPISODES, EPISODES),
    "af_burden": fake("af_burden", 0.35, EPISODES),
    "change_detection": fake("change_detection", 30.0, EPISODES[:1]),
    "ischemia": fake("ischemia", EPISODES, EPISODES),
    "pvc_burden": fake("pvc_burden", 0.01, [(t, t) for t in BEATS]),
    "rare_event": fake("rare_event", 31.5, [(31.5, 31.5)]),
}


def write(t0, t1, cursor=None, type="af", **more):  # noqa: A002
    return {"type": type, "lead": None, "t0": t0, "t1": t1, "cursor": cursor} | more


def ledgers(task, max_size=8):
    """Random honest ledgers: bounds on a 7.5 s grid, stamps in the order of writing."""
    entry = st.tuples(
        st.integers(0, 79),
        st.integers(1, 4 if "pvc" in TASK_EVENT[task] else 30),
        st.integers(0, 9),
    )

    def build(rows):
        entries, cursor = [], 0.0
        for start, width, confidence in rows:
            t0, t1 = start * 7.5, min(TOTAL, (start + width) * 7.5)
            cursor = max(cursor, t1)
            entries.append(write(t0, t1, cursor, type=TASK_EVENT[task], confidence=confidence / 10))
        return entries

    return st.lists(entry, max_size=max_size).map(build)


NEVER_NUMBERS = st.sampled_from(
    [float("nan"), float("inf"), float("-inf"), None, "5", True, [1], {}, 10**400, 1j]
)


def worthless(event):
    """Entries that must never pay, whatever else is in the ledger."""
    bound, stamp = st.floats(0, TOTAL), st.floats(0, TOTAL)
    wild = {"lead": None, "value": None, "confidence": 1.0}

    def entry(**odd):
        fields = {"type": st.just(event), "t0": bound, "t1": bound, "cursor": stamp} | odd
        return st.fixed_dictionaries(fields).map(lambda fields: wild | fields)

    reversed_ = st.tuples(bound, bound, stamp).map(
        lambda p: write(max(p[:2]), min(p[:2]), p[2], type=event, confidence=1.0)
    )
    future = st.tuples(stamp, st.floats(0, 90), st.floats(0.1, 25)).map(
        lambda p: write(p[0] + p[1], p[0] + p[1] + p[2], p[0], type=event, confidence=1.0)
    )
    wide = st.tuples(st.floats(0, 500), st.floats(31, 90)).map(
        lambda p: write(p[0], p[0] + p[1], TOTAL, type=event, confidence=1.0)
    )
    return st.one_of(
        *([wide] if event == "pvc" else []),
        entry(t0=NEVER_NUMBERS),
        entry(t1=NEVER_NUMBERS),
        entry(cursor=NEVER_NUMBERS.filter(lambda value: value is not None)),
        entry(type=st.sampled_from(["AF", "noise", "", None, 3, ["af"], event + " "])),
        entry(cursor=st.floats(max_value=-0.1, allow_nan=False)),
        entry(t0=st.floats(-90, -50), t1=st.floats(-40, 0)),
        reversed_,
        future,
        st.sampled_from([None, 7, "af", [], (1, 2), {}, {"t0": 0, "t1": 5}]),
    )
