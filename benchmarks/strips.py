"""What each tool saw, drawn on the ECG: strips with the marks that its numbers come from.

Run ``python benchmarks/strips.py --out DIR`` for a strip per tool on synthetic recordings, which is
where the pictures of docs/accuracy.md come from. ``failures.py`` draws real recordings with it.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ecgscroll.causal.sources import Source, open_source
from ecgscroll.causal.stream import Stream
from ecgscroll.signals import ischemia, rhythm, st_course
from ecgscroll.signals.beats import Beats
from ecgscroll.synth import Fibrillation, SynthConfig, preset, write_record
from ecgscroll.tools.registry import DIAGNOSTIC_TOOLS, run_tool

# Okabe and Ito's palette: told apart by the colour-blind.
TRACE, GRID, P, QRS, T, BAD = "#222222", "#D9A89A", "#0072B2", "#D55E00", "#009E73", "#CC79A7"
AHEAD_S = 40.0
"""How far the cursor stands past the strip: a label may use 30 s after it."""


@dataclass(frozen=True)
class View:
    """Seconds [t0, t1) of a recording whose cursor stands a little later, and its beats."""

    source: Source
    stream: Stream
    t0: float
    t1: float

    @property
    def beats(self) -> Beats:
        return self.stream.beats(self.t0, self.t1)

    def trace(self, row: int) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Seconds and millivolts of the ``row``-th ECG lead."""
        recording = self.source.recording
        first, last = (round(t * recording.fs) for t in (self.t0, self.t1))
        last = min(last, recording.n_samples)
        samples = recording.read(first, last)[recording.ecg[row]]
        return np.arange(first, last) / recording.fs, samples


Draw = Callable[[Axes, View, int], None]


def view(source: Source, t0: float, t1: float) -> View:
    stream = Stream(source)
    stream.advance(min(t1 + AHEAD_S, stream.total))
    return View(source, stream, t0, t1)


def picture(seen: View, draw: Draw, title: str) -> Figure:
    """Draw both leads of a view with a tool's marks on each."""
    rows = min(2, len(seen.stream.ecg))
    figure = Figure(figsize=(10, 1.6 + 1.5 * rows), layout="constrained", dpi=110)
    axes = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
    for row, panel in enumerate(axes):
        paper(panel, seen, row)
        draw(panel, seen, row)
    axes[0].set_title(title, loc="left", fontsize=9)
    axes[-1].set_xlabel("time, s")
    return figure


def paper(axes: Axes, seen: View, row: int) -> None:
    """Draw a lead on the grid of ECG paper where it is short enough: 0.2 s by 0.5 mV."""
    time, samples = seen.trace(row)
    axes.plot(time, samples, color=TRACE, lw=0.8)
    axes.margins(y=0.15)  # room for what is written above and below
    axes.set(xlim=(seen.t0, seen.t1), ylabel=f"{seen.stream.leads[seen.stream.ecg[row]]}, mV")
    if seen.t1 - seen.t0 <= 12:
        axes.set_xticks(np.arange(seen.t0, seen.t1 + 0.01, 0.2), minor=True)
    axes.grid(which="both", color=GRID, alpha=0.35, lw=0.5)


def at(seen: View, row: int, seconds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return what the trace shows at times."""
    time, samples = seen.trace(row)
    return samples[np.clip(np.searchsorted(time, seconds), 0, len(time) - 1)]


def spans(axes: Axes, start: NDArray[Any], stop: NDArray[Any], colour: str) -> None:
    for a, b in zip(start, stop, strict=True):
        if np.isfinite(a) and np.isfinite(b):
            axes.axvspan(a, b, color=colour, alpha=0.22, lw=0)


def marks(beats: Beats, name: str) -> NDArray[np.float64]:
    """Seconds of a mark of every beat, NaN where it could not be placed."""
    return np.asarray(beats.time + getattr(beats, name).astype(np.float64) / 1000)


def draw_rate(axes: Axes, seen: View, row: int) -> None:
    beats = seen.beats
    level = at(seen, row, beats.time)
    axes.plot(beats.time, level, "v", color=QRS, ms=5)
    if row == 0:
        middle, gap = (beats.time[:-1] + beats.time[1:]) / 2, np.diff(beats.time)
        above(axes, middle, [f"{1000 * s:.0f}" for s in gap], [QRS] * len(gap))


def draw_p(axes: Axes, seen: View, row: int) -> None:
    beats = seen.beats
    spans(axes, marks(beats, "p_on_ms"), marks(beats, "p_off_ms"), P)
    peak = marks(beats, "p_ms")[beats.p_present == 1]
    axes.plot(peak, at(seen, row, peak), ".", color=P, ms=6)


def draw_qrs(axes: Axes, seen: View, row: int) -> None:
    beats = seen.beats
    spans(axes, marks(beats, "qrs_on_ms"), marks(beats, "qrs_off_ms"), QRS)
    early = beats.time[beats.ectopic]
    axes.plot(early, at(seen, row, early), "s", mfc="none", color=BAD, ms=9)


def draw_st(axes: Axes, seen: View, row: int) -> None:
    beats = seen.beats
    on, off = marks(beats, "qrs_on_ms"), marks(beats, "qrs_off_ms")
    level = beats.st_mv[:, row]
    base = at(seen, row, on)
    point = off + 0.08
    axes.plot(point, at(seen, row, np.nan_to_num(point)), "o", color=T, ms=4)
    for a, b, zero, mv in zip(on, point, base, level, strict=True):
        if np.isfinite(mv) and np.isfinite(b):
            axes.hlines([zero, zero + mv], a - 0.05, b + 0.1, colors=[TRACE, T], lw=(0.6, 1.2))


def draw_t(axes: Axes, seen: View, row: int) -> None:
    peak = marks(seen.beats, "t_peak_ms")
    peak = peak[np.isfinite(peak)]
    axes.plot(peak, at(seen, row, peak), "^", color=T, ms=6)


def draw_qt(axes: Axes, seen: View, row: int) -> None:
    beats = seen.beats
    spans(axes, marks(beats, "qrs_on_ms"), marks(beats, "t_off_ms"), T)


def draw_rhythm(axes: Axes, seen: View, row: int) -> None:
    past = seen.stream.beats(max(0.0, seen.t0 - 150), seen.t1 + 30)
    judged = rhythm.judge(past)
    if judged is not None:
        spans(axes, judged.start[judged.af], judged.stop[judged.af], QRS)


def draw_beats(axes: Axes, seen: View, row: int) -> None:
    beats = seen.beats
    letters = ["V" if ectopic else "N" for ectopic in beats.ectopic]
    above(axes, beats.time, letters, [QRS if letter == "V" else TRACE for letter in letters])


def above(
    axes: Axes, time: NDArray[np.float64], texts: Iterable[str], colours: Iterable[str]
) -> None:
    """Write short texts along the upper edge."""
    edge = axes.get_xaxis_transform()
    for at_s, text, colour in zip(time, texts, colours, strict=True):
        axes.text(at_s, 0.97, text, transform=edge, ha="center", va="top", fontsize=8, color=colour)


def draw_reference(axes: Axes, seen: View, row: int) -> None:
    """Write the annotated symbols under what a tool drew."""
    reference = seen.source.reference
    if reference is None or reference.beat_symbols is None:
        return
    inside = (reference.beat_times >= seen.t0) & (reference.beat_times < seen.t1)
    edge = axes.get_xaxis_transform()
    symbols = reference.beat_symbols[inside]
    for time, symbol in zip(reference.beat_times[inside], symbols, strict=True):
        axes.text(time, 0.03, symbol, transform=edge, ha="center", fontsize=8, color=P)


def course_picture(source: Source, title: str) -> Figure:
    """Draw the ST level of every lead over a recording, what was flagged and what is annotated."""
    stream = Stream(source)
    stream.advance(stream.total)
    course = st_course.st_course(stream.beats(0.0, stream.total))
    found = ischemia.episodes(stream.beats(0.0, stream.total))
    rows = len(stream.ecg)
    figure = Figure(figsize=(10, 1.2 + 1.4 * rows), layout="constrained", dpi=110)
    axes = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
    for row, panel in enumerate(axes):
        lead = stream.leads[stream.ecg[row]]
        panel.plot(course.time, course.values[row], color=TRACE, lw=0.9)
        spans(panel, *_ends((e.start, e.stop) for e in found if e.lead == lead), QRS)
        panel.grid(color=GRID, alpha=0.35, lw=0.5)
        panel.set(ylabel=f"ST in {lead}, mV", xlim=(0, stream.total))
        bottom = panel.get_ylim()[0]
        for true in source.reference.st if source.reference else ():
            if true.lead == stream.ecg[row]:
                panel.hlines(bottom, true.start, true.stop, color=P, lw=4)
    axes[0].set_title(title, loc="left", fontsize=9)
    axes[-1].set_xlabel("time, s")
    return figure


def _ends(pairs: Iterable[tuple[float, float]]) -> NDArray[np.float64]:
    return np.array(list(pairs), dtype=np.float64).reshape(-1, 2).T


def described(seen: View, tool: str, fields: tuple[str, ...]) -> str:
    """Return what the tool says of the window, as a title."""
    dx = "signal" if tool in DIAGNOSTIC_TOOLS else None
    result = run_tool(tool, dx, seen.stream, seen.t0, seen.t1, False)
    return f"{tool}: " + ", ".join(f"{name} {result[name]}" for name in fields)


@dataclass(frozen=True)
class Example:
    """A synthetic strip of one tool: a preset's patient, the strip's bounds, what is shown."""

    config: SynthConfig
    seed: int
    t0: float
    t1: float
    draw: Draw
    fields: tuple[str, ...]


def examples() -> dict[str, Example]:
    sinus, ectopy = preset("sinus", 3, 300.0), preset("ectopy", 5, 600.0)
    fibrillation = SynthConfig(
        duration_s=600.0, fibrillation=Fibrillation(burden=0.4, episode_median_s=60.0)
    )
    quiet = partial(Example, sinus, 3, 100.0, 106.0)
    return {
        "get_rate_rhythm": quiet(draw_rate, ("hr_bpm", "rr_mean_ms", "rr_sd_ms")),
        "get_p_wave": quiet(draw_p, ("p_present_frac", "pr_mean_ms", "p_amp")),
        "get_qrs": Example(
            ectopy, 5, 0, 8, draw_qrs, ("mean_qrs_ms", "wide_beat_frac", "ectopic_times")
        ),
        "get_st": quiet(draw_st, ("st_mv", "sign")),
        "get_t_wave": quiet(draw_t, ("t_amp", "polarity")),
        "get_qt": quiet(draw_qt, ("qt_mean_ms", "qtc_ms")),
        "classify_rhythm": Example(
            fibrillation, 4, 0, 60, draw_rhythm, ("dominant_rhythm", "af_frac")
        ),
        "classify_beats": Example(ectopy, 5, 0, 8, draw_beats, ("types", "pvc_times")),
    }


def make(folder: Path, name: str, config: SynthConfig, seed: int) -> Source:
    write_record(folder, name, config, seed)
    return open_source(folder, name, "synth")


def strip(source: Source, tool: str, example: Example) -> Figure:
    """Draw the example around the recording's first annotated event, if it names no time."""
    t0, t1 = example.t0, example.t1
    if t0 == 0:
        middle = _first_event(source, tool)
        t0, t1 = middle - t1 / 2, middle + t1 / 2
    seen = view(source, round(t0, 1), round(t1, 1))
    return picture(seen, example.draw, described(seen, tool, example.fields))


def _first_event(source: Source, tool: str) -> float:
    reference = source.reference
    assert reference is not None
    assert reference.beat_symbols is not None
    if tool == "classify_rhythm":
        return float(next(span.start for span in reference.af if span.start > 60))
    early = reference.beat_times[reference.beat_symbols == "V"]
    return float(early[early > 10][0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True, help="folder of the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for tool, example in examples().items():
            source = make(Path(folder), tool, example.config, example.seed)
            strip(source, tool, example).savefig(out / f"{tool}.png")
        source = make(Path(folder), "ischemia", preset("ischemia", 2, 1800.0), 2)
        title = "flag_ischemia: ST level, flagged (orange), true episodes (blue)"
        course_picture(source, title).savefig(out / "flag_ischemia.png")


if __name__ == "__main__":
    main()
