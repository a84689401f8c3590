"""Where a database lies on PhysioNet or a mirror, out of its card."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ecgscroll.download.disk import size_text
from ecgscroll.download.listing import Selection
from ecgscroll.errors import ConfigError, DownloadError
from ecgscroll.records.databases import CARDS, get_card

SIGNAL_SUFFIX = "dat"
DEFAULT_BASE_URL = "https://physionet.org/files"
BASE_URL_VARIABLE = "ECGSCROLL_BASE_URL"
LARGE = 50 * 10**9  # bytes; more than that is fetched only on an explicit yes
_NUMBERED_PATIENTS = {"icentia11k": 11_000}  # in folders by number upstream
_PATIENTS_PER_FOLDER = 1000


@dataclass(frozen=True)
class Upstream:
    """A database on a server.

    Parameters
    ----------
    database
        Name of its card and of its folder here.
    version
        Version upstream.
    url
        Address under which its files lie, with a slash at the end.
    annotations
        Suffixes of its annotation files.
    n_bytes
        Size of the whole, where known.
    n_patients
        How many patients can be asked for by number; 0 where they cannot.
    """

    database: str
    version: str
    url: str
    annotations: tuple[str, ...]
    n_bytes: int | None = None
    n_patients: int = 0

    def suffixes(self, annotations_only: bool) -> frozenset[str]:
        """Suffixes of the files that make up a record."""
        signals = () if annotations_only else (SIGNAL_SUFFIX,)
        return frozenset(("hea", *self.annotations, *signals))

    def patient_folder(self, number: int) -> str:
        """Folder upstream of a patient by number, as Icentia11k nests them.

        Examples
        --------
        >>> Upstream("icentia11k", "1.0", "", ("atr",), n_patients=11000).patient_folder(1234)
        'p01/p01234'
        """
        return f"p{number // _PATIENTS_PER_FOLDER:02d}/p{number:05d}"

    def share(self, selection: Selection) -> int | None:
        """Bytes that a selection comes to by the size of the whole, before the server is asked."""
        if self.n_bytes is None or selection.records:
            return None
        if selection.patients and self.n_patients:
            return self.n_bytes * len(selection.patients) // self.n_patients
        return self.n_bytes


def find_upstream(name: str, base_url: str) -> Upstream:
    """Where a database lies under a base address.

    Raises
    ------
    ConfigError
        If the database is unknown or not PhysioNet's, or the address is none.
    """
    path = _upstream_path(name)
    card = get_card(name)
    if card is None or path is None:
        where = f"; it is at {card.url or card.doi}" if card else ""
        raise ConfigError(
            f"prepare cannot fetch {name!r}{where}. It fetches {', '.join(known_databases())}."
        )
    return Upstream(
        database=name,
        version=card.version or "",
        url=f"{_checked(base_url)}/{path}",
        annotations=tuple(e for e in card.extensions if e not in ("hea", SIGNAL_SUFFIX)),
        n_bytes=card.size_bytes,
        n_patients=_NUMBERED_PATIENTS.get(name, 0),
    )


def known_databases() -> list[str]:
    """Names of the databases that `find_upstream` finds."""
    return sorted(name for name in CARDS if _upstream_path(name) is not None)


def _upstream_path(name: str) -> str | None:
    """Path of a database under the base address, with a final slash; None if not PhysioNet's."""
    card = get_card(name)
    url = card.url if card else None
    prefix = f"{DEFAULT_BASE_URL}/"
    return url.removeprefix(prefix).rstrip("/") + "/" if url and url.startswith(prefix) else None


def _checked(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(
            f"--base-url is an http or https address such as {DEFAULT_BASE_URL}; not {base_url!r}."
        )
    return base_url.rstrip("/")


def require_one(upstreams: list[Upstream], selection: Selection) -> None:
    """Refuse records or patients where it is not plain whose they are.

    Raises
    ------
    ConfigError
        If they are named with several databases, both at once, or of a database without numbers.
    """
    if selection.whole:
        return
    if len(upstreams) > 1:
        raise ConfigError("--records and --patients go with one database at a time; name only one.")
    if selection.records and selection.patients:
        raise ConfigError("Give either --records or --patients.")
    if selection.patients and not upstreams[0].n_patients:
        raise ConfigError(f"{upstreams[0].database} has no patients by number; use --records.")


def require_consent(upstream: Upstream, selection: Selection, *, yes: bool) -> None:
    """Refuse more than `LARGE` bytes without an explicit yes, before the server is asked.

    Raises
    ------
    DownloadError
        With the size, and what to name instead.
    """
    n_bytes = upstream.share(selection)
    if yes or n_bytes is None or n_bytes <= LARGE:
        return
    instead = (
        "name patients by number (--patients 0-4,17)"
        if upstream.n_patients
        else "name records (--records)"
    )
    raise DownloadError(
        f"{upstream.database} {upstream.version} is large: with its signals what is asked for is "
        f"about {size_text(n_bytes)}, more than {size_text(LARGE)}; {instead}, or say --yes."
    )
