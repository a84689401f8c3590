"""Draw an episode: what the agent was shown, did and wrote, over what the reference says.

Run as ``python -m ecgscroll.evaluation.picture RUN INSTANCE --data DIR --out FILE``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ecgscroll.catalogue.instances import Instance, get_instance
from ecgscroll.causal.sources import Source, open_source
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.records.databases import locate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by the colour-blind.
TRUTH, WRITTEN, CUE, TRACE = "#0072B2", "#D55E00", "#56B4E9", "#333333"
STRIP_S = 10.0

Spans: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Told:
    """An episode as its transcript tells it.

    Parameters
    ----------
    cue
        Name of the skim's cue.
    bins
        ``(t0, t1, value)`` of every skim bin, s and the cue's unit.
    entries
        The ledger.
    score
        Score of the episode.
    """

    cue: str
    bins: list[tuple[float, float, float]]
    entries: list[dict[str, Any]]
    score: float


def tell(run: Path, instance: str) -> Told:
    """Read what an episode's transcript says.

    Raises
    ------
    ConfigError
        If the run has no such episode.
    """
    folder = RunFolder(run)
    end = folder.last_line(instance)
    if end is None or end["row"]["error"]:
        raise ConfigError(f"{run} holds no finished episode of {instance}; run it first.")
    lines = folder.episode_path(instance).read_text().splitlines()[1:-1]
    skims = [
        result for result in (json.loads(line)["result"] for line in lines) if "bins" in result
    ]
    bins = [
        (t0, t1, value) for skim in skims for t0, t1, value in skim["bins"] if value is not None
    ]
    cue = skims[0]["cue"] if skims else "cue"
    return Told(cue, bins, end["ledger"], end["row"]["score"])


def draw(told: Told, instance: Instance, source: Source, at: float | None = None) -> Figure:
    """Draw the recording's timeline and, where there is a waveform, a strip at ``at`` s.

    Without ``at`` the strip shows the onset of the first event.
    """
    from matplotlib.figure import Figure

    events = instance.truth.events if instance.truth else ()
    middle = at if at is not None else (events[0][0] if events else 0.0)
    figure = Figure(figsize=(10, 5.2), layout="constrained", dpi=120)
    top, ledger, strip = figure.subplots(3, 1, height_ratios=(1.2, 1.0, 1.6))
    _draw_cue(top, told, instance)
    _draw_ledger(ledger, told, events, instance.duration)
    _draw_strip(strip, source, events, middle)
    return figure


def _draw_cue(axes: Axes, told: Told, instance: Instance) -> None:
    starts, stops, values = zip(*told.bins, strict=True) if told.bins else ((), (), ())
    widths = [stop - start for start, stop in zip(starts, stops, strict=True)]
    axes.bar(starts, values, widths, align="edge", color=CUE)
    axes.set(xlim=(0, instance.duration), ylabel=told.cue.replace("_", " "))
    axes.set_title(f"{instance.id}: what skimming showed, what was written, score {told.score:.2f}")
    axes.tick_params(labelbottom=False)


def _draw_ledger(axes: Axes, told: Told, events: Spans, total: float) -> None:
    shortest = total / 400  # a beat would not be seen otherwise
    spans = {
        "reference": ([(a, max(b - a, shortest)) for a, b in events], TRUTH, 2.0),
        "written": ([(e["t0"], e["t1"] - e["t0"]) for e in told.entries], WRITTEN, 1.0),
    }
    for name, (bars, colour, row) in spans.items():
        axes.broken_barh(bars, (row - 0.35, 0.7), color=colour, label=name)
    stamps = [entry["cursor"] for entry in told.entries]
    axes.plot(stamps, [0.0] * len(stamps), "|", color=WRITTEN, label="stamps")
    axes.set(xlim=(0, total), ylim=(-0.6, 2.6), xlabel="time, s")
    axes.set_yticks([0, 1, 2], ["stamped at", "written", "reference"])


def _draw_strip(axes: Axes, source: Source, events: Spans, middle: float) -> None:
    import numpy as np

    recording = source.recording
    start = max(0.0, min(middle - STRIP_S / 2, recording.duration - STRIP_S))
    first = round(start * recording.fs)
    last = min(round((start + STRIP_S) * recording.fs), recording.n_samples)
    if recording.has_signal and recording.ecg:
        trace = recording.read(first, last)[recording.ecg[0]]
        axes.plot(np.arange(first, last) / recording.fs, trace, TRACE, lw=0.8)
    for onset, offset in events:
        axes.axvspan(onset, max(offset, onset + 0.1), color=TRUTH, alpha=0.15, lw=0)
    axes.set(xlim=(start, start + STRIP_S), xlabel="time, s", ylabel="mV")
    axes.grid(alpha=0.3)


def main(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    instance: Annotated[str, typer.Argument(help="Instance id, as in the run's results.")],
    data: Annotated[Path, typer.Option(help="Folder of the recordings.")],
    out: Annotated[Path, typer.Option(help="PNG or SVG to write.")],
    at: Annotated[float | None, typer.Option(help="Middle of the strip, s.")] = None,
) -> None:
    """Draw one episode of a run."""
    found = get_instance(instance, data=data)
    folder, name = locate(data, found.database, found.record)
    source = open_source(folder, name, found.database)
    out.parent.mkdir(parents=True, exist_ok=True)
    draw(tell(run, instance), found, source, at).savefig(out)


if __name__ == "__main__":
    typer.run(main)
