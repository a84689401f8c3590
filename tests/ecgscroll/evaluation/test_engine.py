from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from evaluation_fakes import MakeDeath, MakeEcho, MakeFailure, MakeMeeting, MakeRefusal

from ecgscroll.errors import ConfigError, EcgScrollError
from ecgscroll.evaluation.agenda import Agenda, order
from ecgscroll.evaluation.engine import run_pool
from ecgscroll.evaluation.threads import run_inline

GROUPS = [["a1", "a2", "a3"], ["b1"], ["c1", "c2"]]
ALL = [name for group in GROUPS for name in group]


def pool(make, workers=2, groups=GROUPS, concurrency=1):
    done, died = {}, {}
    run_pool(
        Agenda(groups),
        make,
        workers,
        lambda name, note: done.__setitem__(name, note),
        lambda name, code: died.__setitem__(name, code),
        concurrency,
    )
    return done, died


def test_the_longest_recording_comes_first_and_its_instances_together():
    groups = order([("x", "r1", 5.0), ("y", "r2", 8.0), ("z", "r1", 5.0)])
    assert groups == [["x", "z"], ["y"]]


def test_inline_plays_every_instance_once_in_order():
    played = []
    run_inline(Agenda(GROUPS), MakeEcho(), lambda name, note: played.append((name, note[0])))
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


def test_threads_play_every_instance_once_and_at_once():
    done = {}
    meet = MakeMeeting(3)
    run_inline(Agenda(GROUPS), meet, lambda name, note: done.__setitem__(name, note), 3)
    assert done == {name: name.upper() for name in ALL}


def test_threads_in_a_pool_play_every_instance_once(tmp_path):
    log = tmp_path / "log"
    done, died = pool(MakeEcho(log=log, pause=0.05), concurrency=3)
    assert sorted(done) == sorted(log.read_text().split()) == sorted(ALL)
    assert not died


def test_of_several_at_once_only_the_one_that_ends_workers_is_lost():
    done, died = pool(MakeEcho(doomed=("a2",), pause=0.2), workers=1, concurrency=3)
    assert died == {"a2": 9}
    assert sorted(done) == sorted(set(ALL) - {"a2"})


@pytest.mark.parametrize("error", [OSError("disk full"), ValueError("a bug")])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_thread_that_fails_ends_the_run_with_a_sentence(error, workers):
    def play():
        if workers:
            pool(MakeFailure(error), workers, concurrency=2)
        else:
            run_inline(Agenda(GROUPS), MakeFailure(error), lambda *_: None, 2)

    with pytest.raises(EcgScrollError, match=str(error)):
        play()


@pytest.mark.parametrize("concurrency", [1, 2])
def test_nothing_begins_once_the_run_may_not_go_on(concurrency):
    for workers in (1, 2):
        done = []
        agenda = Agenda([[name] for name in ALL], lambda done=done: len(done) < 2)

        def note(name, _, done=done):
            done.append(name)

        if workers == 1:
            run_inline(agenda, MakeEcho(), note, concurrency)
        else:
            run_pool(agenda, MakeEcho(), workers, note, note, concurrency)
        assert 2 <= len(done) < 2 + workers * concurrency


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
        "from ecgscroll.evaluation.agenda import Agenda\n"
        "if __name__ == '__main__':\n"
        "    note = lambda *_: None\n"
        "    make = MakeEcho(pause=1.0, log=Path(sys.argv[2]))\n"
        "    run_pool(Agenda([['a', 'b', 'c', 'd', 'e', 'f']]), make, 2, note, note)\n"
    )
    program = tmp_path / "program.py"
    program.write_text(script)
    parent = subprocess.Popen([sys.executable, program, str(Path(__file__).parent), log])
    while not log.exists():
        assert parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    time.sleep(0.3)
    begun = log.read_text()
    time.sleep(1.5)
    assert log.read_text() == begun
