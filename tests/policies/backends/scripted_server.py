"""A chat server that does what a test tells it, request by request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Takes the next answer of the server's script; the last one is repeated."""

    protocol_version = "HTTP/1.1"
    server: ScriptedServer
    body: dict[str, Any]

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(self.body)
            self.server.headers.append({k.lower(): v for k, v in self.headers.items()})
            script = self.server.script
            answer = script.pop(0) if len(script) > 1 else script[0]
        answer(self)

    def send(self, status: int, text: str, kind: str = "application/json", **headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class ScriptedServer(ThreadingHTTPServer):
    """Serves a script on a free port of the loopback interface."""

    daemon_threads = True

    def __init__(self, script: list[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.lock = script, threading.Lock()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are part of the script."""


@contextmanager
def serving(*script: Answer) -> Iterator[ScriptedServer]:
    server = ScriptedServer(list(script))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def completion(message: dict[str, Any], finish: str = "stop", **usage: Any) -> str:
    counts = {"prompt_tokens": 100, "completion_tokens": 10, **usage}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "choices": [choice], "usage": counts}
    )


def says(text: Any, **usage: Any) -> Answer:
    return lambda handler: handler.send(200, completion({"content": text}, **usage))


def calls(*made: Any) -> Answer:
    message = {"content": None, "tool_calls": list(made)}
    return lambda handler: handler.send(200, completion(message, "tool_calls"))


def call(name: Any, arguments: Any, id_: Any = "c1") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def status(code: int, message: str = "no", **headers: str) -> Answer:
    text = json.dumps({"error": {"message": message}})
    return lambda handler: handler.send(code, text, **headers)


def page(handler: Handler) -> None:
    """An answer for people, with status 200."""
    handler.send(200, "<html>Welcome</html>", "text/html")


def hangs(handler: Handler) -> None:
    """No answer until the server is shut down."""
    handler.server.released.wait(20)


def breaks_off(handler: Handler) -> None:
    """Half of an answer, then a closed connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.close_connection = True
