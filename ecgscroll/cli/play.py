"""``ecgscroll play``: a person reads a recording by the rules that agents play by."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ecgscroll.catalogue.instances import get_instance
from ecgscroll.cli.run import parse_budget
from ecgscroll.cli.run_options import Budget, Data, Dx, Rewind, Scoring
from ecgscroll.environment.actions import parse_action
from ecgscroll.environment.commands import parse_command
from ecgscroll.errors import BadCallError
from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.run import evaluate
from ecgscroll.evaluation.selection import find_data
from ecgscroll.tasks import get_task
from ecgscroll.tools.schemas import TOOL_HELP

Name = Annotated[str, typer.Argument(metavar="INSTANCE", help="Instance id, task/database/record.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Keep the episode as a run in this folder.", show_default="not kept"),
]

HELP = """\
skim SECONDS                let time pass (5 to 1800), get a coarse profile of it
measure TOOL T0 T1          read a window that has elapsed; no time passes
write T0 T1 [confidence=C]  commit a finding; only what is written is scored
ledger                      show what is written
finish                      end the episode (Ctrl-D does too)
Times are seconds from the recording's start."""


class Human:
    """Ask the person at the terminal for each call."""

    name = "human"

    def __init__(self) -> None:
        self._console = Console(soft_wrap=True, highlight=False)

    def reset(self, info: Mapping[str, Any]) -> None:
        """Say what is asked and how to answer."""
        task = get_task(info["task"])
        self._info = info
        self._console.print(f"[bold]{escape(info['instance'])}[/]: find {task.event}.")
        self._console.print(HELP, markup=False)
        self._console.print(
            f"Tools: {', '.join(info['tools'])} (help TOOL explains one).\n", markup=False
        )

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
        """Show the last result, and read lines until one is a call."""
        self._info = info
        if info["result"]:
            show_result(self._console, info["result"])
        prompt = f"{float(obs['cursor']):.1f}/{float(obs['total']):.1f} s> "
        while True:
            line = self._read(prompt)
            if line is None:
                return {"name": "finish", "arguments": {}}
            if line and not self._answered(line):
                try:
                    return self._checked(parse_command(line))
                except BadCallError as error:
                    self._console.print(str(error), style="red", markup=False)

    def _checked(self, call: dict[str, Any]) -> dict[str, Any]:
        """Refuse here what could never be a call: a slip of the fingers takes no step."""
        parse_action(call, self._info["tools"])
        return call

    def _read(self, prompt: str) -> str | None:
        """Return a line without blanks around it; None at the end of the input."""
        self._console.print(prompt, end="", style="bold", markup=False)
        if sys.stdin is None:  # it was closed
            return None
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError:
            return ""
        if not sys.stdin.isatty():
            self._console.print(line.rstrip("\n"), markup=False)
        return line.strip() if line else None

    def _answered(self, line: str) -> bool:
        """Answer what takes no step: help and ledger."""
        word, _, rest = line.partition(" ")
        if word in ("help", "?"):
            self._console.print(TOOL_HELP.get(rest.strip(), HELP), markup=False)
        elif word == "ledger":
            show_ledger(self._console, self._info["ledger"])
        return word in ("help", "?", "ledger")


def play(
    instance: Name,
    dx: Dx = "none",
    data: Data = None,
    out: Out = None,
    scoring: Scoring = "committed",
    rewind: Rewind = "costed",
    budget: Budget = "open",
) -> None:
    """Read a recording yourself: skim, measure, write, finish, and see your score.

    Lines come from the terminal or from a pipe. A run that is kept can be reported on, scored anew
    and replayed like any other.
    """
    folder, _ = find_data(data)
    chosen = get_instance(instance, folder)
    config = RunConfig(
        policy=f"{__name__}:{Human.__name__}",
        instances=(chosen.id,),
        data=data_digest({chosen.id: chosen.truth.digest()} if chosen.truth else {}),
        dx=None if dx == "none" else dx,
        scoring=scoring,
        rewind=rewind,
        budget=parse_budget(budget),
    )
    with ExitStack() as stack:
        kept = out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        run = RunFolder(kept)
        evaluate(config, [chosen], folder, run)
        end = run.last_line(chosen.id)
    show_end(Console(soft_wrap=True, highlight=False), end or {})
    if out:
        Console(stderr=True, soft_wrap=True).print(f"The episode is kept in {out}", markup=False)


def show_result(console: Console, result: Mapping[str, Any]) -> None:
    """Print what a call returned, a field a line; a profile as a table."""
    if "error" in result:
        console.print(result["error"], style="red", markup=False)
        return
    grid = Table.grid(padding=(0, 2))
    for name, value in result.items():
        if name not in ("bins", "reasons"):
            grid.add_row(escape(name), escape(_shown(value)))
    for t0, t1, value in result.get("bins", ()):
        grid.add_row(f"  {t0:g}-{t1:g} s", _bar(value))
    for name, reason in (result.get("reasons") or {}).items():
        grid.add_row(escape(f"  no {name}"), escape(reason))
    console.print(grid)


def show_ledger(console: Console, ledger: list[dict[str, Any]]) -> None:
    """Print the entries of a ledger as a table."""
    if not ledger:
        console.print("Nothing is written.")
        return
    fields: tuple[Literal["type", "t0", "t1", "confidence", "cursor"], ...]
    fields = ("type", "t0", "t1", "confidence", "cursor")
    table = Table("#", *fields)
    for number, entry in enumerate(ledger, start=1):
        table.add_row(str(number), *(escape(_shown(entry[name])) for name in fields))
    console.print(table)


def show_end(console: Console, end: Mapping[str, Any]) -> None:
    """Print what was written, the score and why, or what went wrong."""
    row = end.get("row", {})
    show_ledger(console, end.get("ledger", []))
    if row.get("error"):
        console.print(row["error"], style="red", markup=False)
        return
    console.print(f"Score: [bold]{_shown(row.get('score'))}[/]")
    console.print(end.get("explanation") or "", markup=False)


def _shown(value: Any) -> str:
    """Return a value as a person reads it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1 else str(value)


def _bar(value: float | None) -> str:
    """Return a bin's value with a bar of up to 20 marks for values up to 1."""
    if value is None:
        return "-"
    return f"{value:<7g} {'#' * round(20 * min(1.0, abs(value)))}"
