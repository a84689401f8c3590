"""The errors a user can meet; a message says in one sentence what is wrong and how to mend it."""

from __future__ import annotations


class EcgScrollError(Exception):
    """Base of every error that is a user's to mend; printed without a traceback."""


class DataError(EcgScrollError):
    """A record, annotation or instance file is absent, damaged or not what it claims to be."""


class ConfigError(EcgScrollError):
    """A parameter, option or configuration file is wrong."""


class BadCallError(EcgScrollError):
    """An agent's action is not a valid call; the environment turns it into an error observation."""


class CausalityError(EcgScrollError):
    """Something asked for a sample or an annotation after the cursor."""


class DownloadError(EcgScrollError):
    """A database could not be fetched."""


class ModelError(EcgScrollError):
    """A language model gave no reply, or none that can be read."""
