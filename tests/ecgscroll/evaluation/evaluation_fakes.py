"""What workers import in these tests: things that play, die, raise, or refuse to begin."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class MakeRefusal:
    def __call__(self):
        raise ConfigError("no such option")


@dataclass(frozen=True)
class MakeDeath:
    def __call__(self):
        os._exit(3)
