"""Where data, caches and cards lie, and how files are read and written safely."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from ecgscroll.errors import ConfigError, DataError

DATA_VARIABLE = "ECGSCROLL_DATA"
CACHE_VARIABLE = "ECGSCROLL_CACHE"


def write_atomic(path: str | Path, data: bytes | str) -> None:
    """Write a whole file or nothing: a kill at any point leaves the old one or the new one.

    Parameters
    ----------
    path
        Target; its folder is created if it is missing.
    data
        Content; text is written as UTF-8.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def data_dir(explicit: str | Path | None = None) -> Path | None:
    """Return the folder of databases: ``explicit``, else ``ECGSCROLL_DATA``, else None.

    Raises
    ------
    ConfigError
        If the folder that was named does not exist.
    """
    chosen = explicit or os.environ.get(DATA_VARIABLE)
    if not chosen:
        return None
    try:
        path = Path(chosen).expanduser()
        found = path.is_dir()
    except (OSError, RuntimeError, TypeError, ValueError):  # too long, no such home, no path
        found = False
    if not found:
        shown = repr(str(chosen)[:200])
        raise ConfigError(f"The data directory {shown} is not a folder; create it or fix it.")
    return path


def cache_dir() -> Path:
    """Return the folder of caches: ``ECGSCROLL_CACHE``, else the user's; it may not exist yet."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("ecgscroll"))


def datasets_dir() -> Path:
    """Return the folder of cards, instance lists and splits, found by path.

    It is ``_datasets`` in the package of a wheel, and ``datasets`` beside it in the repository.

    Raises
    ------
    ConfigError
        If neither is there: the installation is broken.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_datasets", package.parent / "datasets"):
        if (folder / "cards").is_dir():
            return folder
    raise ConfigError("The database cards are missing from this installation; reinstall ecgscroll.")


def inside(folder: Path, name: str) -> Path:
    """Return ``folder / name`` after checking that it cannot leave the folder.

    Parameters
    ----------
    folder
        A record's folder.
    name
        A bare file name out of a header or a user's request; hostile until checked.

    Returns
    -------
    Path
        The path with links resolved; the file need not exist.

    Raises
    ------
    DataError
        If the name is no bare file name, a link leads out of the folder, or what lies there is
        not a regular file (a pipe or a device would hang the reader).
    """
    shown = repr(name[:80])
    if not name or name[0] in ".-" or len(name) > 200 or not name.isprintable():
        raise DataError(f"{shown} is not a file name that a record may use; rename the file.")
    if any(character in name for character in "/\\:"):
        raise DataError(f"{shown} names a path; a record may only name files in its own folder.")
    try:
        root = folder.resolve()
        path = (root / name).resolve()
        mode = path.stat().st_mode if path.exists() else stat.S_IFREG
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(f"{shown} cannot be opened in {folder.name!r}: {error}.") from None
    if not path.is_relative_to(root):
        raise DataError(f"{shown} is a link out of the folder {folder.name!r}; copy the file in.")
    if not stat.S_ISREG(mode):
        raise DataError(f"{shown} in {folder.name!r} is not a regular file; replace it with one.")
    return path


def read_inside(folder: Path, name: str, limit: int) -> bytes:
    """Return the content of a file in ``folder``, at most ``limit`` bytes of it.

    Raises
    ------
    DataError
        If the name is unsafe, or the file is absent, unreadable or larger than ``limit``.
    """
    path = inside(folder, name)
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise DataError(f"There is no file {name!r} in {str(folder)!r}.") from None
    except OSError as error:
        raise DataError(f"{name!r} in {str(folder)!r} cannot be read: {error.strerror}.") from None
    if len(data) > limit:
        raise DataError(f"{name!r} is larger than {limit} bytes, so it is not what it claims.")
    return data
