"""Compile the kernels once, before several workers would each do so."""

from __future__ import annotations

from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import ecgscroll
from ecgscroll.catalogue.instances import Instance
from ecgscroll.compiled import code_folder
from ecgscroll.evaluation.selection import select
from ecgscroll.tools.registry import tool_names

_LENGTH_S, _STEP_S = 300.0, 60.0


def compile_kernels() -> bool:
    """Compile every kernel into the cache folder, unless that was done; tell whether it was now.

    Takes some 15 s of one core, once for a machine and a state of the source. Where no folder can
    be trusted nothing is kept, and so nothing is done.
    """
    folder = code_folder()
    if folder is None:
        return False
    mark = folder / f"all-numba-{version('numba')}"
    if mark.exists():
        return False
    from ecgscroll.synth import RecordPlan, preset, write_database

    with TemporaryDirectory() as place:
        plan = RecordPlan("all", preset("holter", 3, _LENGTH_S), 3)
        write_database(Path(place) / "warming", [plan])
        (one,) = select(Path(place), chosen_set="supplementary", tasks=["pvc_burden"])[0]
        _walk(one, Path(place))
    mark.touch()
    return True


def _walk(instance: Instance, data: Path) -> None:
    """Skim a recording and measure everything there is."""
    with closing(ecgscroll.make(instance, data=data, dx="signal")) as env:
        env.reset(seed=0)
        for start in range(0, int(_LENGTH_S), int(_STEP_S)):
            env.step({"name": "skim", "arguments": {"duration": _STEP_S}})
            for tool in tool_names("signal"):
                window = {"t0": start, "t1": start + _STEP_S}
                env.step({"name": "measure", "arguments": {"tool": tool, **window}})
