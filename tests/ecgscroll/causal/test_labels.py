"""Labels at a cursor are those that the annotations before the cursor give, whatever follows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ecgscroll.causal.labels import Known, Labels, SpanIndex
from ecgscroll.causal.stream import Stream
from ecgscroll.records.annotations import Annotations
from ecgscroll.records.reference import Span, build_reference

FS, SAMPLES = 10.0, 600
NOTES = ["(AFIB", "(AFL", "(N", "(SBR", ")", "MISSB"]
ST_NOTES = [
    "(ST0+",
    "ST0+)",
    "AST0+200",
    "AST0+450",
    "(ST1-",
    "AST1-300",
    "ST1-)",
    "(ST0-",
    "ST0-)",
]

note = st.one_of(
    st.tuples(st.sampled_from("NVEA"), st.just("")),
    st.tuples(st.just("+"), st.sampled_from(NOTES)),
    st.tuples(st.just("s"), st.sampled_from(ST_NOTES)),
)
files = st.lists(st.tuples(st.integers(0, SAMPLES - 1), note), max_size=25).map(
    lambda rows: sorted(rows, key=lambda row: row[0])
)


def annotations(rows):
    zeros = np.zeros(len(rows), dtype=np.int16)
    return Annotations(
        fs=FS,
        sample=np.array([sample for sample, _ in rows], dtype=np.int64),
        symbol=np.array([symbol for _, (symbol, _) in rows], dtype=np.str_),
        aux=np.array([aux for _, (_, aux) in rows], dtype=object),
        chan=zeros,
        num=zeros,
    )


def stream_on(rows, cursor):
    reference = build_reference(annotations(rows), None, SAMPLES / FS)
    recording = SimpleNamespace(
        fs=FS, n_samples=SAMPLES, duration=SAMPLES / FS, leads=("I", "II"), ecg=(), has_signal=False
    )
    labels = Labels(reference, ("I", "II"), {})
    made = Stream(SimpleNamespace(recording=recording, labels=labels))
    made.advance(cursor)
    return made


def everything(stream, t0, t1):
    times, symbols = stream.beat_labels(t0, t1)
    beats = stream.beats(t0, t1)
    return {
        "af": stream.af(t0, t1),
        "rhythms": stream.rhythms(t0, t1),
        "st": stream.st(t0, t1),
        "beats": (times.tolist(), symbols.tolist()),
        "early": (beats.time.tolist(), beats.ectopic.tolist()),
        "annotated": [stream.annotates(kind) for kind in ("beats", "beat_labels", "rhythm", "st")],
    }


@settings(max_examples=300, deadline=None)
@given(files, st.floats(0.05, SAMPLES / FS), st.floats(0, 1), st.floats(0, 1))
def test_labels_at_a_cursor_need_only_the_annotations_before_it(rows, cursor, a, b):
    t0, t1 = sorted((a * cursor, b * cursor))
    whole = stream_on(rows, cursor)
    passed = [row for row in rows if row[0] < whole.elapsed]
    assert everything(whole, t0, t1) == everything(stream_on(passed, cursor), t0, t1)


spans = st.lists(st.tuples(st.floats(0, 50), st.floats(0.1, 30), st.floats(0, 5)), max_size=8).map(
    lambda rows: [Span("x", start, start + length, start + late) for start, length, late in rows]
)


@given(spans, st.floats(0, 60), st.floats(0, 60), st.floats(0, 90))
def test_bisection_finds_what_a_walk_over_all_spans_finds(given_spans, a, b, horizon):
    t0, t1 = min(a, b), max(a, b)
    known = Known(horizon, horizon + 0.05)
    expected = []
    for span in given_spans:
        stop = span.stop if span.stop < known.horizon else known.cursor
        seen = span.start < known.horizon and span.known_from < known.horizon
        if seen and max(t0, span.start) < min(t1, stop):
            expected.append((max(t0, span.start), min(t1, stop)))
    found = [(start, stop) for start, stop, _ in SpanIndex(given_spans).clipped(t0, t1, known)]
    assert sorted(found) == sorted(expected)
