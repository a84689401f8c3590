"""What workers import in these tests: things that play, die, raise, or refuse to begin."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ecgscroll.errors import ConfigError


@dataclass(frozen=True)
class MakeEcho:
    """Plays an instance by naming it and its process; the doomed ones end the process."""

    doomed: tuple[str, ...] = ()
    pause: float = 0.0
    log: Path | None = None

    def __call__(self):
        return self.play

    def play(self, instance):
        if self.log:
            with self.log.open("a") as handle:
                handle.write(instance + "\n")
        time.sleep(self.pause)
        if instance in self.doomed:
            os._exit(9)
        return instance.upper(), os.getpid()


class MakeMeeting:
    """Plays an instance once as many threads are at it as there are seats."""

    def __init__(self, seats):
        self.barrier = threading.Barrier(seats, timeout=10)

    def __call__(self):
        return self.play

    def play(self, instance):
        self.barrier.wait()
        return instance.upper()


@dataclass(frozen=True)
class MakeFailure:
    """Plays nothing, but raises."""

    error: Exception

    def __call__(self):
        return self.play

    def play(self, instance):
        raise self.error


@dataclass(frozen=True)
class MakeRefusal:
    def __call__(self):
        raise ConfigError("no such option")


@dataclass(frozen=True)
class MakeDeath:
    def __call__(self):
        os._exit(3)


class Idle:
    """Finishes at once."""

    name = "idle"

    def reset(self, info):
        self.instance = info["instance"]

    def act(self, obs, info):
        return {"name": "finish", "arguments": {}}


class Stumble(Idle):
    """Raises at the second step of one instance's episode, as long as a file is not there."""

    def __init__(self, at="", mended=""):
        self.at, self.mended = at, mended

    def act(self, obs, info):
        if float(obs["cursor"]) == 0.0:
            return {"name": "skim", "arguments": {"duration": 30}}
        if self.instance == self.at and not Path(self.mended).exists():
            raise ValueError("lost the thread")
        return super().act(obs, info)


class Failing(Idle):
    """Raises at once, everywhere."""

    def act(self, obs, info):
        raise RuntimeError("no idea")


class Fatal(Idle):
    """Ends its process at one instance."""

    def __init__(self, at=""):
        self.at = at

    def act(self, obs, info):
        if self.instance == self.at:
            os._exit(7)
        return super().act(obs, info)


class Hostile(Idle):
    """Acts with what no JSON can carry, then with what is no call, until its budget ends."""

    def act(self, obs, info):
        turn = info["counts"]["steps"] % 4
        return [object(), {"name": float("nan")}, "\ud800", {1: {2, 3}}][turn]


class Slow(Idle):
    """The Rule agent, taking its time."""

    def __init__(self, pause=0.005):
        from policies.rule import Rule

        self.rule, self.pause = Rule(), pause

    def reset(self, info):
        self.rule.reset(info)

    def act(self, obs, info):
        time.sleep(self.pause)
        return self.rule.act(obs, info)


class Struck(Slow):
    """The Rule agent, whose process is killed in the middle of one episode, once."""

    def __init__(self, at="", struck=""):
        super().__init__(0.0)
        self.at, self.struck = at, Path(struck)

    def reset(self, info):
        super().reset(info)
        self.doomed = info["instance"] == self.at and not self.struck.exists()
        self.turns = 0

    def act(self, obs, info):
        self.turns += 1
        if self.doomed and self.turns == 5:
            self.struck.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(obs, info)


class Chatty(Idle):
    """Prints, and so does a child of its."""

    def act(self, obs, info):
        print("from the policy")
        subprocess.run(["echo", "from its child"], check=True)
        return super().act(obs, info)


class Cancelled(Idle):
    """Raises what is no Exception, as a cancelled client does."""

    def act(self, obs, info):
        raise asyncio.CancelledError


class Speechless(Idle):
    """Raises an error whose message raises."""

    def act(self, obs, info):
        class MuteError(Exception):
            def __str__(self):
                raise ValueError

        raise MuteError


class Endless(Idle):
    """Raises an error with a message of a megabyte."""

    def act(self, obs, info):
        raise ValueError("x" * 1_000_000)


class Counting(Idle):
    """Acts with NumPy's numbers."""

    def act(self, obs, info):
        if float(obs["cursor"]) == 0.0:
            return {"name": "skim", "arguments": {"duration": np.float32(30)}}
        return super().act(obs, info)


class Talker(Idle):
    """Skims on and on with a model of its own making, which talks of its seed."""

    price = 0.25

    def __init__(self, price=0.25, seconds=1.5, said=""):
        self.price, self.seconds, self.said = price, seconds, said

    def reset(self, info):
        super().reset(info)
        self.seed, self.turns = info["sampling_seed"], 0

    def act(self, obs, info):
        self.turns += 1
        if float(obs["cursor"]) >= float(obs["total"]):
            return {"name": "finish", "arguments": {}}
        return {"name": "skim", "arguments": {"duration": 5 + self.seed % 7}}

    def trace(self):
        system = {"role": "system", "content": self.said or "count"}
        turns = [{"role": "user", "content": f"turn {n}"} for n in range(1, self.turns + 1)]
        usage = {"prompt_tokens": 10, "seconds": time.perf_counter(), "retries": 1}
        reply = {"text": f"{self.seed}", "calls": []}
        return {"messages": [system, *turns[-2:]], "reply": reply, "usage": usage}

    def usage(self):
        cost = None if self.price is None else self.turns * self.price
        return {
            "requests": self.turns, "prompt_tokens": 10 * self.turns, "cost": cost,
            "completion_tokens": self.turns, "seconds": self.seconds, "retries": 0,
        }  # fmt: skip


class Garbler(Idle):
    """Traces what no JSON can carry."""

    def trace(self):
        endless = []
        endless.append(endless)
        return {
            "messages": [b"\xff" * 10, {1: float("nan")}, "x" * 50_000], "again": endless,
            "surrogate": "\ud800", "number": 10**400, "object": object(),
        }  # fmt: skip


class Miscounting(Idle):
    """Says of its usage what it was told to."""

    def __init__(self, said):
        self.said = said

    def usage(self):
        return {"requests": float("nan")} if self.said == "nan" else self.said


class Secretive(Idle):
    """Raises where its account is looked for."""

    @property
    def usage(self):
        raise RuntimeError("nothing is told")
