"""What a policy is, and how one is found by name; the command line imports none by itself."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, runtime_checkable

from ecgscroll.errors import ConfigError, EcgScrollError

GROUP = "ecgscroll.policies"


@runtime_checkable
class Policy(Protocol):
    """Anything that reads observations and answers with tool calls.

    One object plays many episodes, one after another; `reset` must drop whatever it knew of the
    episode before, so that an episode is the same whichever process plays it.
    """

    name: str

    def reset(self, info: Mapping[str, Any]) -> None:
        """Begin an episode; ``info`` is what the environment's ``reset`` returned."""

    def act(self, obs: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
        """Return the next call, ``{"name": ..., "arguments": {...}}``."""


@runtime_checkable
class Traced(Protocol):
    """A policy that asks a language model, and says what it asked and what that took.

    Both methods are optional for a policy; whoever records an episode looks for them. They are
    called after `Policy.act`, and never change what comes next.
    """

    def trace(self) -> dict[str, Any] | None:
        """Return what the model was asked and what it said at the last step.

        Returns
        -------
        dict or None
            ``messages`` (as sent), ``reply`` (``text``, ``calls`` with ``name``, ``arguments``,
            ``id``), ``stop``, ``usage`` (``prompt_tokens``, ``completion_tokens``, ``seconds``,
            ``cost``, ``retries``); JSON can carry it. None if the model was not asked at that
            step. Of several requests in one step it is the last, whose messages tell the others.
        """

    def usage(self) -> dict[str, Any]:
        """Return what the episode's requests took together, since `Policy.reset`.

        Returns
        -------
        dict
            ``requests``, ``prompt_tokens``, ``completion_tokens``, ``seconds``, ``retries``, and
            ``cost``, None where no price is known.
        """


def registered_policies() -> dict[str, EntryPoint]:
    """Return the policies that installed packages register, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def policy_class(spec: str) -> type:
    """Find a policy's class without making one.

    Parameters
    ----------
    spec
        A registered name (entry point group ``ecgscroll.policies``) or ``module:Class``.

    Raises
    ------
    ConfigError
        If the name is unknown, the module cannot be imported, or the class is no policy.
    """
    target = spec if ":" in spec else _registered_target(spec)
    module_name, _, class_name = target.partition(":")
    if not module_name or not class_name:
        raise ConfigError(f"{spec!r} is neither a policy's name nor of the form module:Class.")
    try:
        found = getattr(import_module(module_name), class_name)
    except AttributeError:
        raise ConfigError(f"The module {module_name!r} has no class {class_name!r}.") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"The policy {spec!r} cannot be imported ({reason}).") from error
    return _checked(spec, found)


def load_policy(spec: str, **options: Any) -> Policy:
    """Make a policy from a registered name or ``module:Class``.

    Parameters
    ----------
    spec
        See `policy_class`.
    options
        Keyword arguments of the class.

    Raises
    ------
    ConfigError
        As `policy_class`, or if the class takes no such option or raises.
    """
    found = policy_class(spec)
    _check_options(spec, found, options)
    with _blamed_on(spec):
        policy: Policy = found(**options)
    return policy


def fingerprint(spec: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a policy's behaviour depends on beyond its options, for the record.

    A class may say so in a class method ``fingerprint(**options)`` that returns what JSON can
    carry: thresholds, the hash of a prompt, the revision of a model. Errors as `load_policy`, and
    for a fingerprint that JSON cannot carry.
    """
    found = policy_class(spec)
    describe = getattr(found, "fingerprint", None)
    if describe is None:
        return {}
    _check_options(spec, found, options)
    with _blamed_on(spec):
        described = describe(**options)
    if not isinstance(described, dict) or not is_plain(described):
        raise ConfigError(f"The fingerprint of {spec!r} must be a dict that JSON can carry.")
    return described


def is_plain(value: Any) -> bool:
    """Whether JSON can carry a value; NaN and infinities it cannot."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


@contextmanager
def _blamed_on(spec: str) -> Iterator[None]:
    """Turn whatever a policy's own code raises into one sentence."""
    try:
        yield
    except (EcgScrollError, KeyboardInterrupt):
        raise
    except BaseException as error:  # sys.exit, or the cancelling of an asynchronous client
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"The policy {spec!r} cannot be made ({reason}).") from error


def _check_options(spec: str, found: type, options: Mapping[str, Any]) -> None:
    signature = inspect.signature(found)
    try:
        signature.bind(**options)
    except TypeError as error:
        known = ", ".join(signature.parameters) or "none"
        raise ConfigError(
            f"The policy {spec!r} cannot take these options ({error}); it knows: {known}."
        ) from None


def _registered_target(name: str) -> str:
    entries = registered_policies()
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise ConfigError(
            f"There is no policy {name!r}; registered are: {known}; or give module:Class."
        )
    return entries[name].value


def _checked(spec: str, found: Any) -> type:
    if not inspect.isclass(found):
        raise ConfigError(f"{spec!r} is not a class; a policy is a class with reset and act.")
    lacking = [need for need in ("reset", "act") if not callable(getattr(found, need, None))]
    if lacking:
        raise ConfigError(f"{spec!r} is not a policy: it has no {' and no '.join(lacking)}.")
    return found
