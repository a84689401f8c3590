"""Options of ``ecgscroll run``, as its help tells them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

PolicyName = Annotated[str, typer.Option(help="A registered policy's name, or module:Class.")]
Out = Annotated[Path, typer.Option(help="Folder of the run; a run that was stopped goes on.")]
Dx = Annotated[
    Literal["reference", "signal", "none"],
    typer.Option(help="Diagnostic tools: reference labels, labels from the signal, or none."),
]
Tasks = Annotated[str, typer.Option(help="Tasks, with commas between.", show_default="all")]
Databases = Annotated[str, typer.Option(help="Databases, with commas between.", show_default="all")]
ChosenSet = Annotated[
    Literal["core", "published", "supplementary", "all"] | None,
    typer.Option(
        "--set",
        help="Set of instances.",
        show_default="core; of synthetic recordings, supplementary",
    ),
]
Ids = Annotated[
    Path | None, typer.Option(help="File of instance ids, one a line, text or JSON Lines.")
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the databases.",
        show_default="ECGSCROLL_DATA, ./data, ../shared/data, or synthetic recordings",
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Processes.")]
Concurrency = Annotated[
    int, typer.Option(min=1, help="Episodes at once in each process, for policies that wait.")
]
Engine = Annotated[
    Literal["pool", "ray"], typer.Option(help="Processes here, or actors of a Ray cluster.")
]
MaxSteps = Annotated[
    int | None, typer.Option(min=1, help="Calls of the policy in an episode; then it is finished.")
]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Tokens of an episode.")]
MaxSeconds = Annotated[float | None, typer.Option(min=0, help="Wall seconds of an episode.")]
MaxCost = Annotated[float | None, typer.Option(min=0, help="Cost of an episode.")]
MaxRunTokens = Annotated[
    int | None, typer.Option(min=0, help="Tokens after which no new episode begins.")
]
MaxRunCost = Annotated[
    float | None, typer.Option(min=0, help="Cost after which no new episode begins.")
]
Scoring = Annotated[
    Literal["committed", "published"],
    typer.Option(help="An empty ledger answers change and rare event with nothing, or with 0 s."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Play at most so many instances.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the environments.")]
SamplingSeed = Annotated[
    int, typer.Option(min=0, help="Seed that the policies' own seeds follow from.")
]
BootstrapSeed = Annotated[int, typer.Option(min=0, help="Seed of the intervals.")]
Rollouts = Annotated[int, typer.Option(min=1, help="Episodes per instance.")]
Rewind = Annotated[
    Literal["costed", "forbidden"], typer.Option(help="What measuring before the last skim is.")
]
Budget = Annotated[str, typer.Option(help="Steps: open, released, or a number.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--policy-option", "-o", help="An option of the policy, key=value; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
