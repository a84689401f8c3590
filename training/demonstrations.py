"""A policy's episodes as conversations.

A conversation is what the Planning agent would have been shown, had it made the same calls: system
prompt, first observation, then call and observation in turn, the ledger's lines left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader

from ecgscroll.catalogue.instances import Instance
from ecgscroll.errors import ConfigError
from ecgscroll.loaders import Rollouts
from ecgscroll.tools.registry import Dx
from policies.backends.base import Message, Reply, ToolCall
from policies.calls import Taken
from policies.context import Turn, recorded
from policies.prompts import planning_prompt
from policies.text import without_ledger

DONE = "Done."
"""What closes a conversation: GRPO has no other sign that an episode is over."""


@dataclass(frozen=True)
class Conversation:
    """An episode as a model would have lived it.

    Parameters
    ----------
    instance
        Its id.
    dx
        Tier of diagnostic tools.
    system
        The system prompt.
    turns
        The agent's call and the observation that followed, as messages; the first has no call.
    score
        What the verifier gave it; None without a truth.
    """

    instance: str
    dx: Dx
    system: str
    turns: tuple[tuple[Message, ...], ...]
    score: float | None

    def texts(self) -> Iterator[str]:
        """Yield what was read and said, for a tokenizer."""
        for message in (one for turn in self.turns for one in turn):
            for call in message.get("tool_calls", ()):
                function = call["function"]
                said = {"name": function["name"], "arguments": json.loads(function["arguments"])}
                yield f"\n{json.dumps(said)}\n"
            if message["content"]:
                yield message["content"]


def demonstrate(
    policy: str,
    instances: Sequence[str | Instance],
    dx: Dx,
    data: Path | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    workers: int = 0,
) -> Iterator[Conversation]:
    """Let a policy play instances, and yield each episode as a conversation as it ends.

    Parameters
    ----------
    policy, options
        As ``ecgscroll run`` takes them.
    instances
        Of training patients.
    dx
        Tier of diagnostic tools.
    data
        Folder of the recordings, for ids.
    seed
        What the policies' seeds follow from.
    workers
        Processes; with several, episodes come in another order.

    Raises
    ------
    ConfigError
        If an episode ends in an error: what is shown must be whole.
    """
    rollouts = Rollouts(
        policy, instances, data=data, dx=dx, seed=seed, options=options, rank=0, world_size=1
    )
    for item in DataLoader(rollouts, batch_size=None, num_workers=workers):
        if item["error"] is not None:
            raise ConfigError(f"{policy} failed on {item['instance']}: {item['error']}")
        yield conversation_of(item, dx)


def conversation_of(item: Mapping[str, Any], dx: Dx) -> Conversation:
    """Return an episode of `ecgscroll.loaders.Rollouts` as a conversation."""
    steps = item["steps"]
    texts = [without_ledger(text) for text in (*(one["text"] for one in steps), item["final"])]
    calls = [Turn(), *(_turn(one["action"], number) for number, one in enumerate(steps, 1))]
    turns = (tuple(call.observed(text)) for call, text in zip(calls, texts, strict=True))
    task = item["instance"].partition("/")[0]
    return Conversation(
        item["instance"], dx, planning_prompt(task, dx), tuple(turns), item["score"]
    )


def _turn(action: Mapping[str, Any], number: int) -> Turn:
    """Return a call as a model's turn, in the form in which it is shown again."""
    name, arguments = str(action["name"]), dict(action.get("arguments") or {})
    said = Reply("", (ToolCall(name, json.dumps(arguments)),))
    return recorded(said, Taken({"name": name, "arguments": arguments}, 0), number)
