"""The Planning agent: a language model decides every step; one call a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecgscroll.environment.parameters import check_choice, check_count
from ecgscroll.tools.schemas import tool_schemas
from policies.asking import Asker, prompt_room
from policies.backends import open_backend
from policies.calls import take_call
from policies.context import Context, Kind, check_kind
from policies.prompts import planning_prompt, prompts_digest


class Planning:
    """Let a language model skim, measure, write and finish.

    Parameters
    ----------
    backend
        Name of the back end, as `policies.backends.open_backend` knows it.
    context
        What the model sees of the past: ``window``, ``last`` or ``full``; see
        `policies.context.Context`.
    turns, slack
        Earlier turns in a ``window``, and how many more it may grow to before they are left out.
    prompt_tokens
        Most tokens of a prompt, tools included; less where the model's context is shorter.
    ledger
        Whether the newest observation shows the ledger's content; ``false`` for a model that was
        trained without it.
    options
        The back end's own: model, adapter, temperature, max_new_tokens, ...

    Raises
    ------
    ConfigError
        If there is no such back end or context, or an option is wrong.
    """

    name = "planning"

    def __init__(
        self,
        backend: str = "transformers",
        context: Kind = "window",
        turns: int = 32,
        prompt_tokens: int = 8000,
        ledger: bool = True,
        slack: int = 0,
        **options: Any,
    ) -> None:
        check_kind(context)
        check_count("turns", turns, 0)
        check_count("slack", slack, 0)
        check_count("prompt_tokens", prompt_tokens, 1)
        check_choice("ledger", ledger, (True, False))
        self._kind, self._turns, self._most = context, turns, prompt_tokens
        self._ledger, self._slack = ledger, slack
        self._options = options
        self._asker = Asker(open_backend(backend, **options))

    @classmethod
    def fingerprint(
        cls,
        backend: str = "transformers",
        context: Kind = "window",
        turns: int = 32,
        prompt_tokens: int = 8000,
        ledger: bool = True,
        slack: int = 0,
        **options: Any,
    ) -> dict[str, Any]:
        """Return the prompts' hash, the context's settings and what the back end depends on."""
        return {
            "prompts": prompts_digest(),
            "context": {
                "kind": context,
                "turns": turns,
                "prompt_tokens": prompt_tokens,
                "ledger": ledger,
                "slack": slack,
            },
            "backend": open_backend(backend, **options).fingerprint(),
        }

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin an episode: a new conversation under the task's prompt."""
        self._asker.begin(info)
        self._tools = tool_schemas(info["dx"])
        room = prompt_room(self._asker.backend, self._tools, self._most, self._options)
        self._context = Context(
            self._kind,
            planning_prompt(info["task"], info["dx"]),
            room,
            self._asker.backend.count_tokens,
            self._turns,
            self._ledger,
            self._slack,
        )

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the model and return the call that its reply comes to."""
        reply = self._asker.ask(self._context.messages(obs["text"]), self._tools)
        taken = take_call(reply, self._tools)
        self._context.said(reply, taken)
        return taken.action

    def trace(self) -> dict[str, Any] | None:
        """Return what the model was asked and what it said at the last step."""
        return self._asker.trace()

    def usage(self) -> dict[str, Any]:
        """Return what the episode's requests took together."""
        return self._asker.usage()
