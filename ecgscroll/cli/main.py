"""The ``ecgscroll`` command: registers the verbs, and turns a user's mistake into one sentence."""

from __future__ import annotations

import os
import sys

import typer
from rich.console import Console

from ecgscroll.cli.check import check
from ecgscroll.cli.instances import instances
from ecgscroll.cli.prepare import prepare
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
for verb in (prepare, instances, synth, run, rescore, check):
    app.command()(verb)


def main() -> None:
    """Run the command line; exit 2 with one sentence on a user's mistake, 130 on Ctrl-C."""
    try:
        app()
    except EcgScrollError as error:
        Console(stderr=True, soft_wrap=True).print(str(error), style="red", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
