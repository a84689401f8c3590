"""The network side of a download: safe redirects, retries with backoff, errors in words."""

from __future__ import annotations

import email.utils
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ecgscroll.errors import DownloadError

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
MAX_REDIRECTS = 5
MAX_PAUSE = 120.0  # s; no server makes us wait longer between two tries
_FIRST_CONTACT_TRIES = 3  # a host never reached is more likely absent than busy
_GAIN = 1 << 18  # bytes that make a try count as progress, so the count of failures starts anew


class FileError(DownloadError):
    """One file cannot be had; others of the database may."""


class StoppedError(Exception):
    """Another connection failed for good, so this one lets go."""


class TransientError(Exception):
    """A fault that may pass: tried again after a pause."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


@dataclass(frozen=True)
class Settings:
    """How hard to try.

    Parameters
    ----------
    connections
        Files fetched at once.
    timeout
        Seconds a connection may stay silent.
    attempts
        Tries in a row without progress before giving up.
    backoff
        Pause after the first failure in seconds, doubled after each further one.
    """

    connections: int = 4
    timeout: float = 30.0
    attempts: int = 6
    backoff: float = 0.5


class Server:
    """HTTP requests on one pool of connections, usable from several threads.

    Parameters
    ----------
    settings
        Connections, timeout and retries.
    """

    def __init__(self, settings: Settings) -> None:
        import httpx

        self.settings = settings
        self.stop = threading.Event()
        self._reached = False
        self._client = httpx.Client(
            timeout=settings.timeout,
            limits=httpx.Limits(max_connections=settings.connections),
            # identity: ranges and checksums are those of the file, not of a compressed copy
            headers={"User-Agent": "ecgscroll", "Accept-Encoding": "identity"},
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def check_stop(self) -> None:
        """Raise StoppedError once another connection has failed for good."""
        if self.stop.is_set():
            raise StoppedError

    @contextmanager
    def open(self, method: str, url: str, headers: dict[str, str]) -> Iterator[httpx.Response]:
        """Response with status 200, 206 or 416, its body not read yet; 405 or 501 to a HEAD.

        Raises
        ------
        TransientError
            On a fault that may pass.
        FileError
            If this file is not on the server.
        DownloadError
            If the server or the way to it is wrong for every file.
        """
        with _network_errors(url, self.settings.timeout), ExitStack() as stack:
            response = self._follow(stack, method, url, headers)
            self._reached = True
            _check(response, url)
            yield response

    def _follow(
        self, stack: ExitStack, method: str, url: str, headers: dict[str, str]
    ) -> httpx.Response:
        here = url
        for _ in range(MAX_REDIRECTS + 1):
            response = stack.enter_context(self._client.stream(method, here, headers=headers))
            if not response.has_redirect_location:
                return response
            response.close()  # gives its connection back: the pool has one per thread
            here = _next_url(response)
        raise DownloadError(f"{url} redirects without end: is this the right host? see --base-url.")

    def retrying(self, work: Callable[[], T], url: str, done: Callable[[], int] = int) -> T:
        """Run ``work`` until it succeeds or fails ``attempts`` times in a row without progress.

        Parameters
        ----------
        work
            Raises TransientError on a fault that may pass.
        url
            Named in the error.
        done
            Bytes held so far; a gain starts the count of failures anew.
        """
        failures = 0
        while True:
            before = done()
            try:
                return work()
            except TransientError as fault:
                failures = 1 if done() - before >= _GAIN else failures + 1
                if failures >= self._tries():
                    raise DownloadError(_gave_up(url, fault, failures)) from fault
                self._pause(failures, fault.pause)

    def _tries(self) -> int:
        tries = self.settings.attempts
        return tries if self._reached else min(tries, _FIRST_CONTACT_TRIES)

    def _pause(self, failures: int, asked: float | None) -> None:
        pause = self.settings.backoff * 2 ** (failures - 1)
        pause *= 0.75 + 0.5 * random.random()  # spread, so connections do not return together
        if self.stop.wait(min(max(pause, asked or 0.0), MAX_PAUSE)):
            raise StoppedError


def _gave_up(url: str, fault: TransientError, failures: int) -> str:
    return (
        f"{url}: {fault}, {failures} times in a row; check the network and run the same command "
        "again, it resumes (--base-url names a mirror)."
    )


@contextmanager
def _network_errors(url: str, timeout: float) -> Iterator[None]:
    import httpx

    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise DownloadError(
            f"{url} leads to no http or https address, which is not followed: see --base-url."
        ) from error
    except httpx.ConnectError as error:
        if "CERTIFICATE" in str(error).upper():
            raise DownloadError(
                f"The certificate of {url} is not trusted: a portal or proxy may stand in between."
            ) from error
        raise TransientError(f"the host cannot be reached ({error})") from error
    except httpx.TimeoutException as error:
        raise TransientError(f"no answer for {timeout:g} s") from error
    except httpx.TransportError as error:
        raise TransientError("the connection was cut") from error


def _next_url(response: httpx.Response) -> str:
    import httpx

    url = response.url.join(response.headers["location"])
    downgrade = response.url.scheme == "https" and url.scheme == "http"
    if url.scheme not in ("http", "https") or not url.host or downgrade:
        raise DownloadError(
            f"{response.url} redirects to {url}, which is not followed: is this the right host? "
            "see --base-url."
        )
    return str(httpx.URL(url, fragment=None))


def _check(response: httpx.Response, url: str) -> None:
    status = response.status_code
    if status in (405, 501) and response.request.method == "HEAD":
        return  # a plain server: what HEAD would tell stays unknown
    if status in (404, 410):
        raise FileError(f"{url} is not on the server ({status}).")
    if status in (408, 425, 429) or status >= 500:
        raise TransientError(f"the server answers {status}", _retry_after(response))
    if status not in (200, 206, 416):
        raise DownloadError(f"{url}: the server refuses ({status}); see --base-url for a mirror.")
    if response.headers.get("content-type", "").startswith(("text/html", "application/xhtml")):
        raise not_the_files(url, str(response.url))
    if response.headers.get("content-encoding", "identity") != "identity":
        raise DownloadError(
            f"{url} comes compressed though that was not asked for: a proxy changes the files; "
            "go around it, or see --base-url."
        )


def not_the_files(url: str, came_from: str) -> DownloadError:
    """Error for a web page in place of a file: a login portal, a proxy or a wrong host."""
    where = "" if came_from == url else f" (redirected to {came_from})"
    return DownloadError(
        f"{url} gives a web page in place of the file{where}: log in to the network if it has a "
        "portal, or check --base-url."
    )


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
