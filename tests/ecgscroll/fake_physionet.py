"""A server on the loopback that lays files out as PhysioNet does, and fails on demand."""

from __future__ import annotations

import hashlib
import os
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

Fault = Callable[["Handler", bytes], bool]  # returns False to serve the file as usual after all
HTML = b"<!DOCTYPE html><html><body>Log in to the network</body></html>"


@dataclass
class Request:
    method: str
    path: str
    range: str | None
    status: int = 0
    sent: int = 0
    over: bool = False


@dataclass
class Site:
    """What the server holds and how it behaves; `log` is what it was asked."""

    files: dict[str, bytes]
    ranges: bool = True
    etag: str = "strong"  # "strong", "weak", "none"
    head: bool = True
    pause: float = 0.0  # s after each piece sent
    piece: int = 1 << 16
    faults: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    always: dict[str, Fault] = field(default_factory=dict)
    everywhere: Fault | None = None
    log: list[Request] = field(default_factory=list)
    total: int = 0  # bytes of bodies sent
    url: str = ""

    def settle(self) -> None:
        """Wait until no request is under way, as after its client was killed."""
        while any(not request.over for request in self.log):
            time.sleep(0.002)

    def bodies(self, path: str | None = None) -> list[Request]:
        """GET requests, of one file or of all."""
        return [r for r in self.log if r.method == "GET" and path in (None, r.path)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10
    disable_nagle_algorithm = True  # a piece counted as sent is on its way

    @property
    def site(self) -> Site:
        return self.server.site  # type: ignore[attr-defined]

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._answer()

    def do_GET(self):
        self._answer()

    def _answer(self):
        path = self.path.removeprefix("/files/")
        self.request_log = Request(self.command, path, self.headers.get("Range"))
        self.site.log.append(self.request_log)
        try:
            self._serve(path)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.request_log.over = True

    def _serve(self, path: str) -> None:
        body = self.site.files.get(path)
        for fault in self._faults(path):
            if fault(self, body or b""):
                return
        if body is None:
            self.reply(404, b"no such file")
        elif self.command == "HEAD" and not self.site.head:
            self.reply(405, b"")
        else:
            self.reply_file(body)

    def _faults(self, path: str) -> Iterator[Fault]:
        if self.site.everywhere:
            yield self.site.everywhere
        if path in self.site.always:
            yield self.site.always[path]
        if self.command == "GET" and self.site.faults[path]:
            yield self.site.faults[path].pop(0)

    def reply_file(self, body: bytes) -> None:
        start = self._range_start(body)
        if start is None:
            self.reply(200, body, self._validators(body))
        elif start >= len(body):
            self.reply(416, b"", {"Content-Range": f"bytes */{len(body)}"})
        else:
            span = f"bytes {start}-{len(body) - 1}/{len(body)}"
            self.reply(206, body[start:], self._validators(body) | {"Content-Range": span})

    def _range_start(self, body: bytes) -> int | None:
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        if not match or not self.site.ranges:
            return None
        if condition is not None and condition not in self._validators(body).values():
            return None
        return int(match[1])

    def _validators(self, body: bytes) -> dict[str, str]:
        tag = hashlib.md5(body).hexdigest()[:12]
        dated = {"Last-Modified": f"Wed, 01 Jan 2020 00:00:00 GMT; {tag}"}
        tags = {"strong": {"ETag": f'"{tag}"'}, "weak": {"ETag": f'W/"{tag}"'} | dated, "none": {}}
        return tags[self.site.etag]

    def reply(
        self,
        status: int,
        body: bytes,
        headers: dict[str, str] | None = None,
        *,
        length: int | None = None,
        cut: int | None = None,
    ) -> None:
        """Send a response; `length` lies about its length, `cut` drops the line after so many."""
        self.request_log.status = status
        headers = {"Content-Type": "application/octet-stream"} | (headers or {})
        headers["Content-Length"] = str(len(body) if length is None else length)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        for at in range(0, len(body) if cut is None else cut, self.site.piece):
            piece = body[at : min(at + self.site.piece, cut or len(body))]
            self.wfile.write(piece)
            self.request_log.sent += len(piece)
            self.site.total += len(piece)
            if self.site.pause:
                time.sleep(self.site.pause)
        if cut is not None or length is not None:
            self.close_connection = True


def cut_after(n_bytes: int) -> Fault:
    """Serve (the rest of) the file, but drop the connection after `n_bytes`."""

    def fault(handler: Handler, body: bytes) -> bool:
        start = handler._range_start(body) or 0
        span = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"} if start else {}
        headers = handler._validators(body) | span
        handler.reply(206 if start else 200, body[start:], headers, cut=n_bytes)
        return True

    return fault


def corrupt(handler: Handler, body: bytes) -> bool:
    handler.reply_file(bytes([body[0] ^ 1]) + body[1:])
    return True


def html(handler: Handler, body: bytes) -> bool:
    handler.reply(200, HTML, {"Content-Type": "text/html; charset=utf-8"})
    return True


def html_as_text(handler: Handler, body: bytes) -> bool:
    handler.reply(200, HTML, {"Content-Type": "text/plain"})
    return True


def status(code: int, **headers: str) -> Fault:
    def fault(handler: Handler, body: bytes) -> bool:
        handler.reply(code, b"", {name.replace("_", "-"): value for name, value in headers.items()})
        return True

    return fault


def claims_length(length: int) -> Fault:
    def fault(handler: Handler, body: bytes) -> bool:
        handler.reply(200, body, handler._validators(body), length=length)
        return True

    return fault


def stall(seconds: float) -> Fault:
    def fault(handler: Handler, body: bytes) -> bool:
        time.sleep(seconds)
        return False

    return fault


def database(
    path: str, records: dict[str, tuple[str, ...]], size: int = 2000, listed: str | None = None
) -> dict[str, bytes]:
    """Files of a made-up database under ``path/``: each record's by suffix, and the lists.

    Signals are `size` bytes and more, other files shorter; the content tells nothing.
    """
    rng = random.Random(path)
    files = {}
    for name, suffixes in records.items():
        for suffix in suffixes:
            n_bytes = size + rng.randrange(50) if suffix == "dat" else 40 + rng.randrange(40)
            files[f"{name}.{suffix}"] = rng.randbytes(n_bytes)
    files["RECORDS"] = (listed or "".join(f"{name}\n" for name in records)).encode()
    files["mitdbdir/intro.htm"] = HTML
    files["SHA256SUMS.txt"] = sums(files)
    return {f"{path}/{name}": body for name, body in files.items()}


def sums(files: dict[str, bytes]) -> bytes:
    lines = [f"{hashlib.sha256(body).hexdigest()} {name}\n" for name, body in files.items()]
    return "".join(lines).encode()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    site: Site

    def handle_error(self, request, client_address):
        """A client that was killed is no fault of the server's."""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    server = Server(("127.0.0.1", 0), Handler)
    server.site = site
    site.url = f"http://127.0.0.1:{server.server_address[1]}/files"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        with mock.patch.dict(os.environ, {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}):
            yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
