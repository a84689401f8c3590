"""The names under which the command line finds the agents."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ecgscroll.policy import GROUP, policy_class

ROOT = Path(__file__).resolve().parents[2]


def test_every_registered_name_is_that_of_a_policy():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"][GROUP]
    assert {"judge", "planning", "replay", "rule", "script"} <= set(entries)
    for name, target in entries.items():
        assert policy_class(target).name == name
