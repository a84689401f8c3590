"""A hostile model, and the page's reader in Python: what a browser gets out of a pack."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct

import numpy as np
from typer.testing import CliRunner

from ecgscroll.cli.main import app
from ecgscroll.evaluation.config import RunConfig
from ecgscroll.evaluation.folder import RunFolder

IDS = ("episode_detection/synth/paf01", "pvc_burden/synth/ectopy01", "rare_event/synth/rare01")
HOSTILE = (
    '</script><script>document.title="owned"</script><img src=x onerror="document.title=1">'
    "<!--\u2028\u2029{{ 7*7 }}\ud800"
)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def talk(path):
    """Give every step of a transcript a model that says what must never become markup."""
    first, *steps, last = path.read_text().splitlines()
    spoken = []
    for line in steps:
        step = json.loads(line)
        step["model"] = {
            "messages": [
                {"role": "system", "content": HOSTILE},
                {"role": HOSTILE, "content": [{"type": "text", "text": HOSTILE}]},
            ],
            "reply": {"role": "assistant", "content": HOSTILE, "tool_calls": [HOSTILE]},
            "usage": {"prompt_tokens": 812, HOSTILE: HOSTILE},
        }
        spoken.append(json.dumps(step))
    path.write_text("\n".join([first, *spoken, last]) + "\n")


def opened(text):
    """Return a pack's value and the bytes behind it."""
    data = gzip.decompress(base64.b64decode(text))
    (length,) = struct.unpack("<I", data[:4])
    return json.loads(data[4 : 4 + length]), data[4 + length :]


def unwound(data, reference):
    """Return the array that a reference stands for."""
    width = np.dtype(f"<{reference['type']}")
    part = np.frombuffer(
        data, np.uint8, reference["n"] * width.itemsize, offset=reference["at"]
    ).reshape(width.itemsize, -1)
    return np.cumsum(part.T.copy().view(width).ravel(), dtype=width)


def pack_of(page, name):
    """Return the text of a pack in a page's source, None if there is none."""
    found = re.search(rf'<script type="text/plain" id="{re.escape(name)}">([^<]*)</script>', page)
    return found and found[1]


class Talker:
    """A policy with a model that sees its last two turns; its rollouts end in different ways.

    The first writes and finishes, the second fails at its fourth step, the third never ends.
    """

    name = "talker"

    def __init__(self):
        self.episodes = 0

    def reset(self, info):
        self.ending = ("finish", "error", "limit")[self.episodes % 3]
        self.episodes += 1
        self.said = []

    def act(self, obs, info):
        turn = len(self.said) // 2
        if self.ending == "error" and turn == 3:
            raise RuntimeError("the server is gone\u202e\x1b[31m")
        calls = [("skim", {"duration": 60})] * 3 + [("write", {"t0": 30, "t1": 45}), ("finish", {})]
        name, arguments = calls[turn] if self.ending == "finish" else calls[0]
        self.call = {"name": name, "arguments": json.dumps(arguments), "id": f"c{turn}"}
        self.said.append({"role": "user", "content": f"turn {turn} {HOSTILE}"})
        self.sent = [{"role": "system", "content": "the prompt"}, *self.said[-5:]]
        self.said.append({"role": "assistant", "content": "", "tool_calls": [self.call]})
        return {"name": name, "arguments": arguments}

    def trace(self):
        reply = {"text": f"so I {self.call['name']}", "calls": [self.call]}
        usage = {"prompt_tokens": 1234, "completion_tokens": 5, "seconds": 0.2, "cost": None}
        return {"messages": self.sent, "reply": reply, "stop": "tool_calls", "usage": usage}

    def usage(self):
        asked = len(self.said) // 2
        return {
            "requests": asked, "prompt_tokens": 1234 * asked, "completion_tokens": 5 * asked,
            "seconds": 0.2 * asked, "cost": None,
        }  # fmt: skip


def fabricate(path, ends, steps=(), rollouts=1, **options):
    """Write a run's folder by hand: ``ends`` are last lines by instance, as `ending` makes them."""
    config = RunConfig("made", tuple(ends), data="0", rollouts=rollouts, **options)
    folder = RunFolder(path)
    folder.begin(config, {})
    folder.episodes.mkdir(parents=True, exist_ok=True)
    for name, end in ends.items():
        start = {"instance": name, "config": config.digest()}
        for turn in range(rollouts):
            held = {**end, "row": {**end["row"], "rollout": turn}}
            lines = [start, *steps, held]
            folder.episode_path(name, turn).write_text(
                "".join(json.dumps(line) + "\n" for line in lines)
            )
    return folder


def ending(name, ledger=(), events=(), score=0.5, duration=600.0, **row):
    """Return the last line of an episode's transcript."""
    task, database, _ = name.split("/", 2)
    counts = dict.fromkeys(("steps", "skims", "measures", "writes", "rewinds", "errors"), 1)
    held = {
        "instance": name, "task": task, "database": database, "patient": "p", **counts,
        "duration_s": duration, "cursor_s": duration, "ended": "finish", "error": None,
        "truth": 0.5, "score": score, "answer": 0.1,
        "latency": {"missed": len(events), "from_onset": None}, **row,
    }  # fmt: skip
    delays = {kind: [None] * len(events) for kind in ("onset_s", "earliest_s")}
    return {"row": held, "ledger": list(ledger), "latency": delays, "events": list(events)}
