"""Figures of a benchmark and of agents' behaviour: what there is to find, and how they looked.

They show what figures 2, 3 and 4 of Li et al. (2026, arXiv:2609.33117) show, drawn from the
instances and runs at hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.behaviour import behaviour
from ecgscroll.evaluation.loading import LoadedRun
from ecgscroll.evaluation.rollouts import failed
from ecgscroll.scoring.intervals import Interval
from ecgscroll.tasks import TASKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by the colour-blind.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#333333")
POINT_S = 1.0  # length a point event counts with where time is shared out
_ACTIONS = ("skims", "measures", "writes")


def draw_fibrillation(instances: Sequence[Instance]) -> Figure:
    """Draw the recordings with AF annotations: lengths, episodes, their durations, burden.

    Raises
    ------
    ConfigError
        If no instance of AF burden has a truth.
    """
    found = {
        database: [one for one in instances if (one.task, one.database) == ("af_burden", database)]
        for database in dict.fromkeys(one.database for one in instances if one.truth)
    }
    found = {name: kept for name, ones in found.items() if (kept := [o for o in ones if o.truth])}
    if not found:
        raise ConfigError("There are no AF annotations here; get some with `ecgscroll prepare`.")
    figure = _figure((9.5, 6.2))
    axes = figure.subplots(2, 2).flatten()
    events = {name: [_events(one) for one in ones] for name, ones in found.items()}
    hours = {name: [one.duration / 3600 for one in ones] for name, ones in found.items()}
    counts = {name: [len(one) for one in ones] for name, ones in events.items()}
    minutes = {
        name: [(stop - start) / 60 for one in ones for start, stop in one]
        for name, ones in events.items()
    }
    burden = {
        name: [100 * _occupied(one) for one in ones] for name, ones in found.items()
    }  # fmt: skip
    _histogram(axes[0], hours, "(a) Length of the recordings", "length, h", "recordings")
    _histogram(axes[1], counts, "(b) AF episodes in a recording", "episodes", "recordings", True)
    _histogram(axes[2], minutes, "(c) Length of AF episodes", "length, min", "episodes", True)
    _histogram(axes[3], burden, "(d) AF burden", "time in AF, %", "recordings")
    return figure


def draw_coverage(instances: Sequence[Instance]) -> Figure:
    """Draw how many instances each task has in each database, and how rare its events are.

    Raises
    ------
    ConfigError
        If no instance has a truth.
    """
    known = [one for one in instances if one.truth is not None]
    if not known:
        raise ConfigError("There are no annotated recordings here; `ecgscroll prepare` gets some.")
    figure = _figure((10.5, 4.4))
    left, right = figure.subplots(1, 2)
    tasks = [task for task in TASKS if any(one.task == task for one in known)]
    _stack(left, known, tasks)
    _shares(right, known, tasks)
    return figure


def draw_behaviour(runs: Sequence[LoadedRun]) -> Figure:
    """Draw what agents did per episode and how often they wrote nothing, every task weighing alike.

    Raises
    ------
    ConfigError
        If no episode of a run ran.
    """
    means = {f"{run.name}\n({_tasks(run)})": _task_equal(run) for run in runs}
    figure = _figure((10.0, 1.9 + 0.55 * len(runs)))
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(means))[::-1]
    height = 0.8 / len(_ACTIONS)
    for k, name in enumerate(_ACTIONS):
        values = [one[name] for one in means.values()]
        bars = left.barh(places + (1 - k) * height, values, height, color=COLOURS[k], label=name)
        left.bar_label(bars, fmt="%.1f", padding=2, fontsize=8)
    left.set_yticks(places, list(means))
    left.set(title="Actions per episode", xlabel="mean over tasks (linear to 10, then logarithmic)")
    left.set_xscale("symlog", linthresh=10)
    left.margins(x=0.15)
    figure.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=8)
    shares = [100 * one["empty_ledgers"] for one in means.values()]
    bars = right.barh(places, shares, 0.5, color=COLOURS[4])
    right.bar_label(bars, fmt="%.0f", padding=2, fontsize=8)
    right.set(title="Episodes that end with nothing written", xlabel="%", xlim=(0, 108))
    return figure


def _figure(size: tuple[float, float]) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("Figures need matplotlib: pip install 'ecgscroll[plot]'.") from None
    return Figure(figsize=size, layout="constrained", dpi=130)


def _histogram(
    axes: Axes,
    values: dict[str, list[float]] | dict[str, list[int]],
    title: str,
    unit: str,
    counted: str,
    log: bool = False,
) -> None:
    """Stack a histogram per database; on a log axis zeros stand left of it, named in the label."""
    pooled = np.array([value for ones in values.values() for value in ones], dtype=float)
    shown = [np.array(ones, dtype=float) for ones in values.values()]
    if log:
        none = int((pooled <= 0).sum())
        unit += f" (not shown: {none} without)" if none else ""
        shown = [ones[ones > 0] for ones in shown]
        pooled = pooled[pooled > 0]
        axes.set_xscale("log")
    if pooled.size:
        low, high = float(pooled.min()), float(pooled.max())
        edges = np.geomspace(low, high * 1.01, 21) if log else np.linspace(0, high * 1.001, 21)
        axes.hist(
            shown, bins=list(edges), stacked=True, label=list(values),
            color=[COLOURS[k % len(COLOURS)] for k in range(len(shown))],
        )  # fmt: skip
        axes.legend(frameon=False, fontsize=8)
    axes.set(title=title, xlabel=unit, ylabel=counted)


def _stack(axes: Axes, known: Sequence[Instance], tasks: Sequence[str]) -> None:
    bottom = np.zeros(len(tasks))
    for k, database in enumerate(dict.fromkeys(one.database for one in known)):
        counts = np.array(
            [sum((one.task, one.database) == (task, database) for one in known) for task in tasks]
        )
        axes.bar(tasks, counts, bottom=bottom, label=database, color=COLOURS[k % len(COLOURS)])
        bottom += counts
    for place, total in enumerate(bottom):
        axes.text(place, total, f"{total:.0f}", ha="center", va="bottom", fontsize=8)
    axes.set(title="(a) Instances by task and database", ylabel="instances")
    axes.set_ylim(0, 1.1 * bottom.max())
    _name(axes, tasks)
    axes.legend(frameon=False, fontsize=8)


def _shares(axes: Axes, known: Sequence[Instance], tasks: Sequence[str]) -> None:
    shares = [[100 * _occupied(one) for one in known if one.task == task] for task in tasks]
    spread = np.random.default_rng(0)
    for place, ones in enumerate(shares):
        positive = [share for share in ones if share > 0]
        at = place + spread.uniform(-0.25, 0.25, len(positive))
        axes.plot(at, positive, ".", color=COLOURS[0], alpha=0.5, ms=4)
        if positive:
            axes.hlines(np.median(positive), place - 0.35, place + 0.35, color=COLOURS[1], lw=2)
        if len(positive) < len(ones):
            axes.text(
                place, 1.02, f"{len(ones) - len(positive)} with none", ha="center", fontsize=7,
                transform=axes.get_xaxis_transform(),
            )  # fmt: skip
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_title("(b) Time taken by target events, line at the median", pad=16)
    axes.set_ylabel(f"% of the recording (a beat or an onset counts {POINT_S:.0f} s)")
    _name(axes, tasks)


def _name(axes: Axes, tasks: Sequence[str]) -> None:
    names = [task.replace("_", "\n") for task in tasks]
    axes.set_xticks(range(len(tasks)), names, fontsize=8)


def _events(instance: Instance) -> Sequence[Interval]:
    return () if instance.truth is None else instance.truth.events


def _occupied(instance: Instance) -> float:
    """Return the fraction of the recording in events, a point with its nominal length."""
    half = POINT_S / 2
    spans = sorted((a, b) if b > a else (a - half, a + half) for a, b in _events(instance))
    covered, reached = 0.0, 0.0
    for start, stop in spans:
        begin = max(start, reached)
        reached = max(reached, min(stop, instance.duration))
        covered += max(0.0, reached - begin)
    return covered / instance.duration


def _tasks(run: LoadedRun) -> str:
    """Say which tasks a run's means are over: means over other tasks do not compare."""
    tasks = sorted({one.row["task"] for one in run.outcomes})
    return tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks"


def _task_equal(run: LoadedRun) -> dict[str, float]:
    ran = [one for one in run.outcomes if not failed(one)]
    by_task = [behaviour([one for one in ran if one.row["task"] == task]) for task in TASKS]
    found = [one for one in by_task if one]
    if not found:
        raise ConfigError(
            f"Every episode of {run.name} ended in an error; there is nothing to draw."
        )
    names = (*_ACTIONS, "empty_ledgers")
    return {name: math.fsum(one[name] or 0.0 for one in found) / len(found) for name in names}
