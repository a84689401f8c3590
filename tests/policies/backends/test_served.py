"""The same checkpoint behind a real server and on this machine gives the same replies."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecgscroll.evaluation.config import RunConfig, data_digest
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.evaluation.run import evaluate
from ecgscroll.evaluation.selection import select
from policies.backends.http import HttpBackend

for _library in ("fastapi", "uvicorn", "peft"):
    pytest.importorskip(_library)

pytestmark = pytest.mark.slow


@contextmanager
def serving(model: Path, log: Path) -> Iterator[str]:
    """The address of `transformers serve` with one model on a free loopback port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = shutil.which("transformers", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("the program transformers is not installed beside this Python")
    command = [program, "serve", str(model), "--host", "127.0.0.1", "--port", str(port)]
    offline = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--device", "cpu", "--dtype", "float32"],
            env={**os.environ, **offline},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 200
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            if httpx.get(url, timeout=2, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    pytest.fail(f"the server did not start: {log.read_text()[-2000:]}")


def asked(tool: dict[str, Any]) -> list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """Requests that the model was taught, never saw, saw answered, and gets without tools."""
    call = {"name": "skim", "arguments": '{"duration": 600}'}
    answered = [
        {"role": "user", "content": "Begin."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": call}]},
        {"role": "tool", "content": '{"mean": 0.1}', "tool_call_id": "1"},
    ]
    go = [{"role": "user", "content": "Go on."}]
    return [(go, [tool]), ([*go, *go], [tool]), (answered, [tool]), (go, [])]


@pytest.fixture(scope="module")
def server(taught_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server of `taught_model`."""
    with serving(taught_model, tmp_path_factory.mktemp("server") / "log") as url:
        yield url


def test_greedy_replies_of_a_server_and_of_this_machine_are_the_same(
    taught_model: Path, tool: dict[str, Any], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from policies.backends.local import LocalBackend

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    here = LocalBackend(str(taught_model), max_new_tokens=60)
    with ThreadPoolExecutor(4) as pool:
        there = HttpBackend(str(taught_model), base_url=server, max_new_tokens=60)
        ours, theirs = (
            list(pool.map(lambda request, b=backend: b.complete(*request, 0), asked(tool)))
            for backend in (here, there)
        )
        there.close()
    here.close()
    assert ours[0].calls[0].name == "skim"
    for our, their in zip(ours, theirs, strict=True):
        assert our.text == their.text
        assert [(c.name, c.arguments) for c in our.calls] == [
            (c.name, c.arguments) for c in their.calls
        ]
        assert our.stop == their.stop
        assert our.usage.prompt_tokens == their.usage.prompt_tokens


@pytest.mark.parametrize(
    "policy", ["policies.planning:Planning", "policies.judge:Judge"], ids=["planning", "judge"]
)
def test_a_run_over_http_has_the_transcripts_of_a_local_one(
    policy: str,
    taught_model: Path,
    server: str,
    synth_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    shared = {"model": str(taught_model), "max_new_tokens": 24, "context_tokens": 8192}
    where = {
        "local": {"backend": "transformers", "device": "cpu", "dtype": "float32", "threads": 1},
        "http": {"backend": "openai", "base_url": server},
    }
    chosen = select(synth_data, chosen_set="supplementary", tasks=("rare_event", "af_burden"))[0]
    told = {}
    for name, options in where.items():
        config = RunConfig(
            policy=policy,
            options={**shared, **options},
            dx="reference",
            instances=tuple(one.id for one in chosen),
            data=data_digest({one.id: one.truth.digest() for one in chosen if one.truth}),
        )
        folder = RunFolder(tmp_path / name)
        summary = evaluate(config, chosen, synth_data, folder)
        assert all(found["errors"] == 0 for found in summary["tasks"].values())
        told[name] = {one.id: _but_usage(folder.episode_path(one.id)) for one in chosen}
    assert told["http"] == told["local"]
    assert all(len(lines) > 5 for lines in told["local"].values())


def _but_usage(transcript: Path) -> list[Any]:
    """Lines after the first, but for what was used: a server counts the last token or does not."""
    lines = [json.loads(line) for line in transcript.read_text().splitlines()[1:]]
    for line in lines:
        line.get("model", line.get("row", {})).pop("usage", None)
    return lines
