"""How a page's bytes are shared: transcripts first, then recordings by what went wrong on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ecgscroll.report.pack import packed
from ecgscroll.report.story import Story

Level = Literal["whole", "brief", "none"]

STEPS_SHARE = 0.5
"""Of what is left for data, the part that transcripts may take."""


def pack_stories(stories: Sequence[Story], allowance: float) -> list[str]:
    """Return a pack per episode; those of least interest lose detail first, and then their steps.

    Parameters
    ----------
    stories
        The episodes.
    allowance
        Characters that all packs together may take; what is left of them without any step is
        kept whatever it takes.
    """
    packs = [packed(story_value(story, "whole")) for story in stories]
    over = sum(map(len, packs)) - allowance
    ranked = sorted(range(len(stories)), key=lambda index: (stories[index].interest, index))
    levels: tuple[Level, ...] = ("brief", "none")
    for level in levels:
        for index in ranked:
            if over <= 0:
                return packs
            smaller = packed(story_value(stories[index], level))
            if len(smaller) < len(packs[index]):
                over -= len(packs[index]) - len(smaller)
                packs[index] = smaller
    return packs


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
    }


def shares(interests: Mapping[str, float], total: float) -> list[tuple[str, float]]:
    """Return names, least interest first, each with its part of what is then still left.

    What one does not use thus goes to those after it, which a reader wants more.
    """
    ranked = sorted(interests, key=lambda name: (interests[name], name))
    weights = [interests[name] for name in ranked]
    return [
        (name, weights[index] / sum(weights[index:]) if total > 0 else 0.0)
        for index, name in enumerate(ranked)
    ]
