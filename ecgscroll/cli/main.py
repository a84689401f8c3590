"""The ``ecgscroll`` command: registers the verbs, and turns a user's mistake into one sentence."""

from __future__ import annotations

import inspect
import os
import sys

import typer
from rich.console import Console
from rich.markup import escape

from ecgscroll.cli.check import check
from ecgscroll.cli.compare import compare
from ecgscroll.cli.figures import figures
from ecgscroll.cli.instances import instances
from ecgscroll.cli.leaderboard import leaderboard
from ecgscroll.cli.play import play
from ecgscroll.cli.prepare import prepare
from ecgscroll.cli.report import report
from ecgscroll.cli.rescore import rescore
from ecgscroll.cli.run import run
from ecgscroll.cli.synth import synth
from ecgscroll.errors import EcgScrollError

app = typer.Typer(
    help="Stream ambulatory ECG to an agent and score what it writes, latency included.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _help_of(docstring: str) -> str:
    """Return paragraphs that fill the terminal's lines, with brackets that are no markup."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return escape("\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs))


for verb in (
    prepare, instances, synth, run, play, rescore, report, compare, leaderboard, figures, check,
):  # fmt: skip
    app.command(help=_help_of(verb.__doc__ or ""))(verb)


def main() -> None:
    """Run the command line; exit 2 with one sentence on a mistake, 130 on Ctrl-C."""
    try:
        app()
    except EcgScrollError as error:
        _say(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _say(_system_error(error))
        sys.exit(2)


def _say(sentence: str) -> None:
    Console(stderr=True, soft_wrap=True).print(sentence, style="red", markup=False)


def _system_error(error: OSError) -> str:
    """Say what the system refused: a full disk, a folder that is another's, a broken one."""
    where = f" ({error.filename})" if error.filename is not None else ""
    return (
        f"The system refused to read or write{where}: {error.strerror or error}. Mend that, then "
        "run the same command again; what was finished is kept."
    )


if __name__ == "__main__":
    main()
