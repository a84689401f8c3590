from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from evaluation_fakes import MakeDeath, MakeEcho, MakeRefusal

from ecgscroll.errors import ConfigError, EcgScrollError
from ecgscroll.evaluation.engine import order, run_inline, run_pool

GROUPS = [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]]
ALL = [name for group in GROUPS for name in group]


def pool(make, workers=2, groups=GROUPS):
    done, died = {}, {}
    run_pool(
        groups,
        make,
        workers,
        lambda name, note: done.__setitem__(name, note),
        lambda name, code: died.__setitem__(name, code),
    )
    return done, died


def test_the_longest_recording_comes_first_and_its_instances_together():
    groups = order([("x", "r1", 5.0), ("y", "r2", 8.0), ("z", "r1", 5.0)])
    assert groups == [["x", "z"], ["y"]]


def test_inline_plays_every_instance_once_in_order():
    played = []
    run_inline(GROUPS, MakeEcho(), lambda name, note: played.append((name, note[0])))
    assert played == [(name, name.upper()) for name in ALL]


def test_a_pool_plays_every_instance_once(tmp_path):
    log = tmp_path / "log"
    done, died = pool(MakeEcho(log=log))
    assert {name: note[0] for name, note in done.items()} == {n: n.upper() for n in ALL}
    assert sorted(log.read_text().split()) == sorted(ALL)
    assert not died


def test_a_dead_worker_costs_its_own_episode_alone():
    done, died = pool(MakeEcho(doomed=("a2",)))
    assert died == {"a2": 9}
    assert sorted(done) == sorted(set(ALL) - {"a2"})


def test_an_idle_worker_takes_over_from_a_long_group():
    names = [f"n{i}" for i in range(12)]
    done, _ = pool(MakeEcho(pause=0.3), groups=[names])
    assert len({pid for _, pid in done.values()}) == 2


def test_a_refusal_in_a_worker_is_the_users_mistake():
    with pytest.raises(ConfigError, match="no such option"):
        pool(MakeRefusal())


def test_workers_that_cannot_begin_end_the_run():
    with pytest.raises(EcgScrollError, match="exit code 3"):
        pool(MakeDeath())


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    log = tmp_path / "log"
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from evaluation_fakes import MakeEcho\n"
        "from ecgscroll.evaluation.engine import run_pool\n"
        "if __name__ == '__main__':\n"
        "    note = lambda *_: None\n"
        "    make = MakeEcho(pause=1.0, log=Path(sys.argv[2]))\n"
        "    run_pool([['a', 'b', 'c', 'd', 'e', 'f']], make, 2, note, note)\n"
    )
    program = tmp_path / "program.py"
    program.write_text(script)
    parent = subprocess.Popen([sys.executable, program, str(Path(__file__).parent), log])
    while not log.exists():
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    time.sleep(0.3)
    begun = log.read_text()
    time.sleep(1.5)
    assert log.read_text() == begun
