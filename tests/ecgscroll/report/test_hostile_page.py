"""Runs that nobody should have: hostile names and values, nothing, errors alone, thousands."""

from __future__ import annotations

import pytest
from report_fakes import ending, fabricate

from ecgscroll.report.page import build_page

NAN, HUGE = float("nan"), 10**400
EVIL = "</script><b>x</b>\u2028\u202e\x00\x1b[31m\"'&{{7*7}}\ud800"
NAMES = (
    f"af_burden/d{EVIL[9:-1]}/r{EVIL[:-1]}",
    "pvc_burden/__proto__/constructor",
    "rare_event/d/é😀عربي",
    "change_detection/d/" + "x" * 180,
)
LEDGER = (
    {"type": EVIL, "lead": EVIL, "t0": 1, "t1": 50, "cursor": 60, "confidence": EVIL},
    {"type": {"a": 1}, "t0": "nan", "t1": "Infinity"},
    {"type": None},
    {"t0": NAN, "t1": 3},
    {"t0": 1e308, "t1": -1e308, "cursor": 1e300},
    {"t0": HUGE, "t1": 1},
)
MODEL = {
    "messages": [EVIL, {"role": EVIL, "content": [EVIL]}, None, 3, [1, [2]]],
    "kept": "x",
    "context": [[0, 4], [3, 1e9], [-1, 2], "x", [0, 0], [0, 10**9]],
    "reply": [EVIL],
    "stop": {"a": EVIL},
    "usage": {EVIL: EVIL, "prompt_tokens": NAN},
}
STEPS = (
    {
        "n": EVIL, "action": {"name": EVIL, "arguments": EVIL}, "cursor": 10, "model": MODEL,
        "result": {EVIL: EVIL, "error": {"a": [EVIL]}}, "reward": {EVIL: NAN},
    },
    {"n": 2, "action": None, "result": None, "cursor": "nan"},
    {
        "n": 3, "action": {"name": "skim", "arguments": {"duration": "nan"}}, "cursor": 1e300,
        "result": {
            "t0": 0, "t1": 1e9, "peak": "x", "peak_t0": None, "cue": EVIL,
            "bins": [[0, 1, NAN], "x", [None, 2, 3], [0, 1e12, 5]],
        },
    },
    {
        "n": 4, "action": {"name": "measure", "arguments": {"tool": EVIL}}, "cursor": -5,
        "result": {"tool": EVIL, "t0": 5, "t1": 1, "pvc_times": [NAN, EVIL]},
    },
    {
        "n": 5, "action": {"name": "write", "arguments": [1]}, "result": [1], "cursor": {"a": 1},
        "model": EVIL, "limit": {"x": EVIL},
    },
    {
        "n": 6, "action": {"name": "finish"}, "result": {"x": "y" * 20_050}, "cursor": 600,
        "model": {"context": [[0, 99_999]], "messages": []},
    },
)  # fmt: skip
EACH_STEP = """async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms)), seen = [];
  for (const link of document.querySelectorAll("#rows a")) {
    link.click();
    await wait(60);
    for (let i = 0; i < 8; i++) {
      const down = new KeyboardEvent("keydown", { key: "ArrowDown" });
      document.getElementById("steps").dispatchEvent(down);
      document.querySelectorAll("#step details").forEach((one) => { one.open = true; });
      await wait(15);
    }
    seen.push(document.querySelectorAll("#steps .row").length);
  }
  return [seen, document.querySelectorAll("#episode b:not(.rollouts b), #episode script").length];
}"""


@pytest.fixture
def shown(visit, tmp_path):
    """Show the page of a run that is made up."""

    def show(ends, steps=(), anchor="", **more):
        out = tmp_path / "page.html"
        out.write_text(build_page(fabricate(tmp_path / "run", ends, steps, **more), None))
        return visit(anchor, file=out)

    return show


def test_whatever_names_steps_and_ledgers_hold_is_text(shown):
    events = [[0.0, 10.0], [500.0, 500.0]]
    tab = shown({name: ending(name, LEDGER, events, beats=EVIL) for name in NAMES}, STEPS)
    seen, markup = tab.evaluate(EACH_STEP)
    assert seen == [len(STEPS)] * len(NAMES)
    assert markup == 0
    assert "x" not in tab.title()[:3]
    hidden = tab.evaluate(
        "/[\\0-\\x08\\x0b-\\x1f\\u2028\\u202e]|\\p{Surrogate}/u.test(document.body.innerText)"
    )
    assert not hidden


def test_a_run_of_nothing_has_a_page(shown):
    tab = shown({})
    assert tab.inner_text("#count") == "0 of 0 episodes"
    assert "No episode has ended yet" in tab.inner_text("#home")


def test_errors_alone_are_told_and_no_zeros(shown):
    name = "af_burden/d/1"
    end = ending(name, score=None, error="lost " * 400, ended="error", latency=None)
    tab = shown({name: {**end, "latency": None}}, rollouts=2)
    assert tab.locator("#rows .state").all_inner_texts() == ["error", "error"]
    assert "0.000" not in tab.inner_text("#rows")
    assert tab.locator("#rows tr").first.bounding_box()["height"] < 100


def test_thousands_of_entries_take_no_more_than_their_share(shown):
    name = "af_burden/d/1"
    times = [17.0 * i for i in range(5000)]
    ledger = [{"type": "af", "t0": t, "t1": t + 5, "cursor": t + 9} for t in times]
    steps = [
        {"n": i, "action": {"name": "write"}, "result": {"t0": t, "t1": t + 5}, "cursor": t + 9}
        for i, t in enumerate(times)
    ]
    end = ending(name, ledger, [[t, t + 3] for t in times[::2]], duration=86_400.0)
    tab = shown({name: end}, steps, "#episode=af_burden%2Fd%2F1&t=40000")
    assert tab.locator("#steps .row").count() < 60
    assert tab.get_attribute("#steps [aria-selected=true]", "aria-setsize") == "5000"
    assert "11:06" in tab.inner_text("#shown")
