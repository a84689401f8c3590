from __future__ import annotations

import asyncio

import pytest

from ecgscroll.errors import ConfigError
from ecgscroll.policy import Policy, fingerprint, load_policy, policy_class, registered_policies


class Idle:
    name = "idle"

    def __init__(self, patience: int = 1) -> None:
        self.patience = patience

    def reset(self, info):
        pass

    def act(self, obs, info):
        return {"name": "finish", "arguments": {}}


class Mute:
    def reset(self, info):
        pass


HERE = __name__


def test_rule_is_registered():
    assert "rule" in registered_policies()
    assert isinstance(load_policy("rule"), Policy)


def test_a_class_is_found_by_its_module():
    policy = load_policy(f"{HERE}:Idle", patience=3)
    assert isinstance(policy, Policy)
    assert policy.patience == 3


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ConfigError, match=r"no policy 'ruel'; registered are: .*rule"):
        policy_class("ruel")


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="No module named 'nowhere'"):
        policy_class("nowhere:Idle")


def test_a_module_that_raises_is_reported(tmp_path, monkeypatch):
    (tmp_path / "broken_policy.py").write_text("raise ValueError('half done')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="ValueError: half done"):
        policy_class("broken_policy:Idle")


def test_a_class_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="no class 'Busy'"):
        policy_class(f"{HERE}:Busy")


def test_what_is_no_policy_is_refused():
    with pytest.raises(ConfigError, match="it has no act"):
        policy_class(f"{HERE}:Mute")
    with pytest.raises(ConfigError, match="not a class"):
        policy_class(f"{HERE}:HERE")


@pytest.mark.parametrize("spec", [":Idle", "module:", ":"])
def test_half_a_spec_is_refused(spec):
    with pytest.raises(ConfigError, match="module:Class"):
        policy_class(spec)


def test_an_unknown_option_names_the_known():
    with pytest.raises(ConfigError, match=r"'haste'\); it knows: patience"):
        load_policy(f"{HERE}:Idle", haste=1)


class Broken(Idle):
    def __init__(self):
        raise RuntimeError("no key")


class Mistaken(Idle):
    @classmethod
    def fingerprint(cls, patience=1):
        raise LookupError("no prompt")


class Unkept(Idle):
    @classmethod
    def fingerprint(cls, patience=1):
        return {"threshold": float("nan")}


def test_a_policy_that_cannot_be_made_is_a_sentence():
    with pytest.raises(ConfigError, match=r"cannot be made \(RuntimeError: no key"):
        load_policy(f"{HERE}:Broken")


@pytest.mark.parametrize(("name", "why"), [("Mistaken", "no prompt"), ("Unkept", "JSON can")])
def test_a_fingerprint_that_fails_is_a_sentence(name, why):
    with pytest.raises(ConfigError, match=why):
        fingerprint(f"{HERE}:{name}", {})


def test_a_module_that_exits_is_reported(tmp_path, monkeypatch):
    (tmp_path / "leaving_policy.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="SystemExit"):
        policy_class("leaving_policy:Idle")


def test_a_class_that_is_cancelled_while_it_is_made_is_a_sentence():
    with pytest.raises(ConfigError, match="CancelledError"):
        load_policy(f"{HERE}:Cancelled")


class Cancelled(Idle):
    def __init__(self) -> None:
        raise asyncio.CancelledError
