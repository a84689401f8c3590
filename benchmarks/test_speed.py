# ruff: noqa: ANN001, ANN201, ANN202
"""The speed budgets, each a row with the parts it was made of, all from one run.

Run ``make bench``. Times are processor seconds of this process; imports are left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wfdb
from sleepecg import detect_heartbeats
from walks import call, cpu, forget, records, rule_pass

import ecgscroll
from ecgscroll.causal.sources import open_source
from ecgscroll.records.recording import Recording
from ecgscroll.scoring.ec57 import compare_beats
from ecgscroll.signals.detector import detect_lead

SEGMENT_S, CONTEXT_S = 60.0, 12.5


def detect_blockwise(lead: Any, fs: float) -> Any:
    """R peaks (samples) as the feature store finds them: causal segments of 72.5 s."""
    step, before, guard = int(SEGMENT_S * fs), int(CONTEXT_S * fs), int(2.5 * fs)
    found, valid = [], np.ones(step + before, dtype=bool)
    for start in range(0, len(lead), step):
        origin, end = max(0, start - before), min(start + step, len(lead))
        peaks = detect_lead(lead[origin:end], valid[: end - origin], fs)
        if peaks is not None:
            last = end if end == len(lead) else end - guard
            peaks = peaks + origin
            found.append(peaks[(peaks >= max(0, start - guard)) & (peaks < last)])
    joined = np.concatenate(found)
    return joined[np.diff(joined, prepend=-fs) >= 0.2 * fs]


def accuracy(data: Path, name: str, beats: Any, fs: float) -> Any:
    reference = open_source(data / "mitdb", name, "mitdb").reference
    assert reference is not None
    assert reference.beat_symbols is not None
    symbols = reference.beat_symbols.tolist()
    mine = ["N"] * len(beats)
    rate = compare_beats(reference.beat_times, symbols, beats / fs, mine, learning_s=0.0).detection
    return np.array([rate.true_positive, rate.reference, rate.detected])


def test_detection_per_lead(benchmark, data, row):
    leads = {name: Recording.open(data / "mitdb", name) for name in records(data)}
    signals = {name: r.read(0, r.n_samples)[0] for name, r in leads.items()}
    peer_signals = {name: np.asarray(x, dtype=np.float64) for name, x in signals.items()}
    fs, found = 360.0, {}

    def ours():
        found["ours"] = {name: detect_blockwise(x, fs) for name, x in signals.items()}

    def peer():
        found["peer"] = {name: detect_heartbeats(x, fs) for name, x in peer_signals.items()}

    mine, theirs = [min(cpu(run) for _ in range(3)) for run in (ours, peer)]
    benchmark.pedantic(ours, rounds=1)
    sums = {who: sum(accuracy(data, n, found[who][n], fs) for n in signals) for who in found}
    shown = {k: f"Se {100 * s[0] / s[1]:.2f} +P {100 * s[0] / s[2]:.2f}" for k, s in sums.items()}
    row(
        "QRS detection / sleepecg",
        mine / theirs,
        "1",
        mine <= theirs,
        ours=f"{mine:.2f} s",
        sleepecg=f"{theirs:.2f} s",
        ours_is=shown["ours"],
        sleepecg_is=shown["peer"],
    )
    assert sums["ours"][0] / sums["ours"][1] >= sums["peer"][0] / sums["peer"][1]
    assert sums["ours"][0] / sums["ours"][2] >= sums["peer"][0] / sums["peer"][2]


@pytest.mark.parametrize("dx", [None, "signal"])
def test_rule_on_mitdb(benchmark, data, row, cache, dx):
    names = records(data)
    rule_pass(data, names[:6], dx)  # a clean record and a noisy one: all is imported and compiled
    shutil.rmtree(cache / "beats")
    forget()

    def reference():
        for name in names:
            wfdb.rdrecord(str(data / "mitdb" / name))

    reference()
    peer = min(cpu(reference) for _ in range(3))
    decoded = [Recording.open(data / "mitdb", name) for name in names]
    decoding = cpu(lambda: [r.read(0, r.n_samples) for r in decoded])
    steps: list[int] = []
    cold = cpu(lambda: steps.append(rule_pass(data, names, dx)))
    forget()
    warm = cpu(lambda: rule_pass(data, names, dx))
    forget()
    benchmark.pedantic(rule_pass, (data, names, dx), rounds=1)
    parts = {"rdrecord": f"{peer:.2f} s", "our_decoding": f"{decoding:.2f} s", "steps": steps[0]}
    row(
        f"Rule, dx {dx}, cold / rdrecord",
        cold / peer,
        "3",
        cold <= 3 * peer,
        rule=f"{cold:.2f} s",
        **parts,
    )
    row(
        f"Rule, dx {dx}, from disk / rdrecord",
        warm / peer,
        "0.3",
        warm <= 0.3 * peer,
        rule=f"{warm:.2f} s",
        **parts,
    )


TOOLS = ("get_rate_rhythm", "get_p_wave", "get_qrs", "get_st", "get_t_wave", "get_qt")


def walk_a_day(env: Any, seed: int) -> list[tuple[str, float, float]]:
    """(action, hour, seconds) of 1,600 steps over a day: skims, and measures of up to 30 min."""
    rng, took = np.random.default_rng(seed), []
    env.reset()
    tools = (*TOOLS, "classify_rhythm", "flag_ischemia", "classify_beats")
    while env._episode.stream.cursor < env.total - 1:
        cursor = env._episode.stream.cursor
        t0 = max(0.0, cursor - float(rng.uniform(5, 1800)))
        window = {"t0": t0, "t1": float(rng.uniform(t0 + 1, cursor + 1))}
        steps = [call("skim", duration=float(rng.choice([30, 60, 300, 600, 1800])))]
        if cursor > 5:
            steps += [call("measure", tool=str(t), **window) for t in rng.permutation(tools)[:4]]
        for action in steps:
            start = time.thread_time()
            env.step(action)
            took.append((action["name"], cursor / 3600, time.thread_time() - start))
    return took


def test_a_warm_step(benchmark, day, row):
    start = time.perf_counter()
    env = ecgscroll.make("episode_detection/load/day", data=day, dx="signal", budget=10**6)
    opened = time.perf_counter() - start
    row("24 h opens, seconds", opened, "1", opened < 1)
    walk_a_day(env, 1)
    for place in ("memory", "disk"):
        if place == "disk":
            forget()
            env = ecgscroll.make("episode_detection/load/day", data=day, dx="signal", budget=10**6)
        took = walk_a_day(env, 1)
        ms = np.array([s for _, _, s in took]) * 1e3
        late = np.array([hour > 18 for _, hour, _ in took])
        early = np.array([hour < 6 for _, hour, _ in took])
        median, tail = np.median(ms), np.percentile(ms, 99)
        parts = {"steps": len(ms), "worst": f"{ms.max():.1f} ms"}
        row(f"warm step from {place}, median ms", median, "2", median < 2, **parts)
        row(f"warm step from {place}, 99th percentile ms", tail, "10", tail < 10, **parts)
        growth = np.median(ms[late]) / np.median(ms[early])
        row(
            f"warm step from {place}, last 6 h / first 6 h",
            growth,
            "1.2",
            growth < 1.2,
            first=f"{np.median(ms[early]):.2f} ms",
            last=f"{np.median(ms[late]):.2f} ms",
        )
    benchmark.pedantic(walk_a_day, (env, 1), rounds=1)


RESIDENT = """
import sys
sys.path.insert(0, {benchmarks!r})
from pathlib import Path
from walks import rule_pass
def peak():  # not ru_maxrss, which begins with the parent's
    status = Path("/proc/self/status").read_text().splitlines()
    return next(line.split()[1] for line in status if line.startswith("VmHWM"))
before = peak()
rule_pass(Path({day!r}), ["day"], "signal", "load")
print(before, peak())
"""


def test_a_rule_pass_over_a_day_stays_small(benchmark, day, row):
    code = RESIDENT.format(benchmarks=str(Path(__file__).parent), day=str(day))

    def run():
        return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    before, peak = (int(kb) / 1024 for kb in benchmark.pedantic(run, rounds=1).split())
    row("Rule over 24 h, MB resident", peak, "500", peak < 500, after_imports=f"{before:.0f} MB")


def test_another_environment_is_small(benchmark, day, row):
    def walk():
        env = ecgscroll.make("episode_detection/load/day", data=day, dx="signal", budget=10**6)
        env.reset()
        for _ in range(4):
            env.step(call("skim", duration=1800))
        env.step(call("measure", tool="classify_rhythm", t0=5400, t1=7200))
        return env

    kept = [walk()]
    tracemalloc.start()
    kept += [walk() for _ in range(4)]
    held = tracemalloc.get_traced_memory()[0] / 4 / 1e6
    tracemalloc.stop()
    benchmark.pedantic(walk, rounds=1)
    row("another environment, MB", held, "5", held < 5, environments=len(kept))


def test_two_workers(benchmark, data, row, tmp_path):
    """The clock's seconds of the command itself: only worth reading on a quiet machine.

    Start-up is in them, so the episodes are those of six databases, twice: over a minute.
    """
    databases = "mitdb,qtdb,ltafdb_1h,cpsc2021,icentia11k,mimic_perform_af"

    def run(workers: int) -> tuple[float, float, float]:
        """Seconds by the clock, of processors, and of the episodes added up."""
        out = tmp_path / f"run{workers}"
        asked = f"--policy rule --dx signal --set all --databases {databases} --rollouts 2"
        command = [sys.executable, "-m", "ecgscroll.cli.main", "run", *asked.split()]
        command += ["--data", str(data), "--out", str(out), "--workers", str(workers)]
        environ = {**os.environ, "ECGSCROLL_CACHE": str(tmp_path / f"c{workers}")}
        start, before = time.perf_counter(), os.times()
        subprocess.run(command, check=True, capture_output=True, env=environ)
        clock, after = time.perf_counter() - start, os.times()
        used = after.children_user + after.children_system
        used -= before.children_user + before.children_system
        notes = (out / "timing.jsonl").read_text().splitlines()
        return clock, used, sum(json.loads(note)["seconds"] for note in notes)

    one = run(1)
    two = benchmark.pedantic(run, (2,), rounds=1)
    ratio = one[0] / two[0]
    row(
        "two workers, times as fast as one",
        ratio,
        "1.8",
        ratio >= 1.8,
        one=f"{one[0]:.1f} s",
        two=f"{two[0]:.1f} s",
        processor=f"{one[1]:.1f} and {two[1]:.1f} s",
        episodes=f"{one[2]:.1f} and {two[2]:.1f} s",
        load=f"{os.getloadavg()[0]:.1f}",
    )
