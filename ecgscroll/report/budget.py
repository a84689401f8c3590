"""How a page's bytes are shared: transcripts first, then recordings by what went wrong on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ecgscroll.report.pack import packed
from ecgscroll.report.story import Story

Level = Literal["whole", "brief", "none"]

STEPS_SHARE = 0.5
"""Of the room for data, the part that transcripts have a right to; more if no ECG needs it."""


def pack_stories(stories: Sequence[Story]) -> list[str]:
    """Return a pack per episode, whole."""
    return [packed(story_value(story, "whole")) for story in stories]


def fitted(stories: Sequence[Story], packs: Sequence[str], allowance: float) -> list[str]:
    """Return packs that fit; those of least interest lose detail first, and then their steps.

    Parameters
    ----------
    stories
        The episodes.
    packs
        Their packs, whole.
    allowance
        Characters that all packs together may take; what is left of them without any step is
        kept whatever it takes.
    """
    held = list(packs)
    over = sum(map(len, held)) - allowance
    ranked = sorted(range(len(stories)), key=lambda index: (stories[index].interest, index))
    levels: tuple[Level, ...] = ("brief", "none")
    for level in levels:
        for index in ranked:
            if over <= 0:
                return held
            smaller = packed(story_value(stories[index], level))
            if len(smaller) < len(held[index]):
                over -= len(held[index]) - len(smaller)
                held[index] = smaller
    return held


def story_value(story: Story, level: Level) -> dict[str, Any]:
    """Return what the page knows of an episode beside its line in the table."""
    if level == "whole":
        steps: list[dict[str, Any]] = list(story.steps)
    else:
        steps = story.brief() if level == "brief" else []
    return {
        "level": level,
        "steps": steps,
        "of": len(story.steps),
        "ledger": story.ledger,
        "events": story.events,
        "delays": story.delays,
        "earliest": story.earliest,
        "seconds": story.step_seconds if level != "none" else (),
    }


def shares(interests: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return names, least interest first, each with its part of what is then still left.

    What one does not use thus goes to those after it, which a reader wants more.
    """
    ranked = sorted(interests, key=lambda name: (interests[name], name))
    weights = [interests[name] for name in ranked]
    return [
        (name, weight / sum(weights[index:]))
        for index, (name, weight) in enumerate(zip(ranked, weights, strict=True))
    ]
