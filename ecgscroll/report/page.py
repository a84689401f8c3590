"""The page: what was run, the scores, and everything a browser needs to look through the run."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.behaviour import LIMITS
from ecgscroll.evaluation.config import RunConfig, leaves
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.reading import whole_outcomes
from ecgscroll.evaluation.summary import summarise_run
from ecgscroll.evaluation.table import tables
from ecgscroll.legible import legible
from ecgscroll.report.budget import STEPS_SHARE, fitted, pack_stories
from ecgscroll.report.pack import packed
from ecgscroll.report.recordings import Embedded, Progress, embed
from ecgscroll.report.story import LATE_S, State, Story, read_stories, summary_of

DEFAULT_MAX_MB = 8.0
LEAST_MB = 0.3
_PAGE = files("ecgscroll.report") / "page"
_SEEDS = {"environment": "seed", "sampling": "sampling_seed", "bootstrap": "bootstrap_seed"}
# In this order they make one script.
_SCRIPTS = (
    "format", "data", "navigate", "table", "timeline", "strip", "transcript", "model", "main",
)  # fmt: skip


def build_page(
    folder: RunFolder,
    data: Path | None,
    max_mb: float = DEFAULT_MAX_MB,
    progress: Progress = lambda name, done, total: None,
) -> str:
    """Return a run's page.

    Parameters
    ----------
    folder
        The run; it may still be under way.
    data
        Folder of the recordings; None shows no ECG.
    max_mb
        Greatest size of the page, in millions of bytes.
    progress
        Told of every recording: its name, how many are done and of how many.

    Raises
    ------
    ConfigError
        If ``max_mb`` is too small for any page, or for this run's.
    DataError
        If the folder holds no run.
    """
    if not max_mb >= LEAST_MB:
        raise ConfigError(f"A page takes {LEAST_MB} MB at least; --max-mb {max_mb:g} is less.")
    stories = read_stories(folder)
    head = _head(folder, stories)
    index = packed([summary_of(story) for story in stories])
    room = max_mb * 1e6 - len(_render(head, index, [], []).encode()) - 200 * len(stories)
    whole = pack_stories(stories)
    steps = min(sum(map(len, whole)), STEPS_SHARE * room)
    recordings = embed(stories, data, room - steps, progress)
    embedded = sum(len(one.pack or "") for one in recordings)
    episodes = fitted(stories, whole, room - embedded)
    page = _render(head, index, episodes, recordings)
    size = len(page.encode()) / 1e6
    if size > max_mb:
        raise ConfigError(
            f"The episodes of this run alone take {size:.1f} MB; give a larger --max-mb."
        )
    return page


def _head(folder: RunFolder, stories: Sequence[Story]) -> dict[str, Any]:
    """Return what the top of the page says."""
    stored = folder.stored()
    config = folder.config()
    outcomes = whole_outcomes(folder)
    parameters = {"scoring": config.scoring}
    summary = {**stored, "parameters": parameters}
    summary |= summarise_run(outcomes, config.bootstrap_seed, parameters)
    states = [story.state for story in stories]
    return {
        "title": f"{config.policy}, dx {config.dx or 'none'}",
        "facts": _facts(stored),
        "summary": summary,
        "tables": tables(summary["tasks"]) if outcomes else [],
        "states": {state: states.count(state) for state in get_args(State)},
        "planned": len(stories),
        "rollouts": config.rollouts,
        "stopped": _stopped(stories),
    }


def _stopped(stories: Sequence[Story]) -> dict[str, int]:
    """Count the episodes that did not come to their own end, by what stopped them."""
    ends = Counter(story.row["ended"] for story in stories if story.state == "played")
    found = {f"Stopped by the limit of {name}": ends[name] for name in LIMITS}
    found["Stopped by the budget"] = ends["budget"]
    return {name: n for name, n in found.items() if n}


def _facts(stored: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was run and where it came from, by name."""
    config, origin = RunConfig.from_dict(stored["config"]).to_dict(), _mapping(stored, "provenance")
    options = ", ".join(f"{name}={value}" for name, value in config["options"].items())
    commit = str(origin.get("commit") or "")
    packages = " ".join(f"{name} {at}" for name, at in _mapping(origin, "packages").items())
    seeds = {name: config[kind] for name, kind in _SEEDS.items()}
    limits = [f"{name} {most}" for name, most in config["limits"].items() if most is not None]
    facts = {
        "policy": config["policy"] + (f" ({options})" if options else ""),
        **{f"policy: {name}": str(value) for name, value in leaves(config["fingerprint"])},
        "diagnostic tools": config["dx"] or "none",
        "scoring": config["scoring"],
        "rewind": config["rewind"],
        "budget": str(config["budget"]),
        "limits": ", ".join(limits) or "none",
        "rollouts": str(config["rollouts"]),
        "seeds": ", ".join(f"{name} {seed}" for name, seed in seeds.items()),
        "version": f"ecgscroll {config['version']}",
        "commit": commit[:12] + ("+" if commit.endswith("+") else "") if commit else "unknown",
        "truths, SHA-256": config["data"][:16],
        "recordings, SHA-256": config["recordings"][:16] or "unknown",
        "configuration, SHA-256": stored["digest"][:16],
        "Python": f"{origin.get('python', 'unknown')}; {packages}",
    }
    return list(facts.items())


def _mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a mapping by its name, or an empty one: provenance is recorded and never checked."""
    found = values.get(name)
    return found if isinstance(found, Mapping) else {}


def _render(
    head: Mapping[str, Any], index: str, episodes: Sequence[str], recordings: Sequence[Embedded]
) -> str:
    import jinja2

    style = _text("report.css")
    body = "\n".join(_text(f"{name}.js") for name in _SCRIPTS)
    script = f'(() => {{\n"use strict";\n{body}\n}})();\n'
    names = [{"name": one.name, "note": one.note} for one in recordings]
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: legible(value) if type(value) is str else value,
    )
    return environment.from_string(_text("report.html.j2")).render(
        head,
        style=style,
        script=script,
        style_hash=_csp_hash(style),
        script_hash=_csp_hash(script),
        index=index,
        names=packed({"recordings": names, "late_s": LATE_S}),
        episodes=episodes,
        recordings=recordings,
    )


def _text(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    """Return the source expression by which a browser lets this text alone run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
