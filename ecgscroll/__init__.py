"""ECG-Scroll: stream an ambulatory ECG to an agent, and score what it writes, latency included.

An agent sees only what has elapsed. It lets time pass with ``skim``, reads numbers with
``measure``, commits findings with ``write`` and ends with ``finish``. Importing the package is
light: what it exposes is loaded at first use.

Examples
--------
On made-up recordings, which need no download (any folder of WFDB databases is a data folder):

>>> import tempfile
>>> import ecgscroll
>>> from ecgscroll.synth import default_data
>>> folder = tempfile.TemporaryDirectory()
>>> data = default_data(folder.name)
>>> env = ecgscroll.make("pvc_burden/synth/ectopy01", data=data, dx="reference")
>>> obs, info = env.reset(seed=0)
>>> call = {"name": "skim", "arguments": {"duration": 600}}
>>> obs, reward, terminated, truncated, info = env.step(call)
>>> info["result"]["cue"], info["result"]["t1"]
('ectopy', 600.0)
>>> call = {"name": "measure", "arguments": {"tool": "classify_beats", "t0": 0, "t1": 120}}
>>> obs, reward, terminated, truncated, info = env.step(call)
>>> beat = info["result"]["pvc_times"][0]
>>> call = {"name": "write", "arguments": {"t0": beat - 1, "t1": beat + 1}}
>>> obs, reward, terminated, truncated, info = env.step(call)
>>> len(info["ledger"])
1
>>> obs, reward, terminated, truncated, info = env.step({"name": "finish", "arguments": {}})
>>> terminated, reward == info["score"].value
(True, True)
>>> folder.cleanup()
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import register

if TYPE_CHECKING:
    from ecgscroll.catalogue.instances import Instance, get_instance, list_instances
    from ecgscroll.environment.env import ECGScrollEnv, make
    from ecgscroll.environment.wrappers import NumericWrapper, WholeInfo
    from ecgscroll.errors import EcgScrollError
    from ecgscroll.records.recording import Recording
    from ecgscroll.scoring.ledger import Ledger
    from ecgscroll.scoring.verifiers import Score, verify
    from ecgscroll.tools.schemas import tool_schemas

try:
    __version__ = version("ecgscroll")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"

_HOMES = {
    "ECGScrollEnv": "ecgscroll.environment.env",
    "EcgScrollError": "ecgscroll.errors",
    "Instance": "ecgscroll.catalogue.instances",
    "Ledger": "ecgscroll.scoring.ledger",
    "NumericWrapper": "ecgscroll.environment.wrappers",
    "WholeInfo": "ecgscroll.environment.wrappers",
    "Recording": "ecgscroll.records.recording",
    "Score": "ecgscroll.scoring.verifiers",
    "get_instance": "ecgscroll.catalogue.instances",
    "list_instances": "ecgscroll.catalogue.instances",
    "make": "ecgscroll.environment.env",
    "tool_schemas": "ecgscroll.tools.schemas",
    "verify": "ecgscroll.scoring.verifiers",
}

__all__ = [
    "ECGScrollEnv",
    "EcgScrollError",
    "Instance",
    "Ledger",
    "NumericWrapper",
    "Recording",
    "Score",
    "WholeInfo",
    "__version__",
    "get_instance",
    "list_instances",
    "make",
    "tool_schemas",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its module at first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register(
    id="ECGScroll-v0",
    entry_point="ecgscroll.environment.env:ECGScrollEnv",
    disable_env_checker=True,
)
