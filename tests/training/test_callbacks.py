"""What a run says while it trains."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

from rich.console import Console

from ecgscroll.scoring.rewards import TERMS
from training.callbacks import EQUAL, EqualRewards, HeldOut, RichProgress, Samples
from training.rewards import Outcome

MAIN = {"is_world_process_zero": True}


def state(step, **more):
    return SimpleNamespace(global_step=step, max_steps=10, **(MAIN | more))


def test_equal_rewards_are_warned_of_early_and_once():
    said: list[str] = []
    watch = EqualRewards(said.append, patience=3)
    shares = [1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    for step, share in enumerate(shares, 1):
        watch.on_log(None, state(step), None, {EQUAL: share, "reward": 0.25})
        watch.on_log(None, state(step), None, {"eval_loss": 1.0})
    assert len(said) == 1
    assert said[0].startswith("Step 6: in the last 3 logs all rewards of each group were equal")
    assert "mean 0.25" in said[0]


def test_other_processes_are_silent():
    said: list[str] = []
    watch = EqualRewards(said.append, patience=1)
    watch.on_log(None, state(1, is_world_process_zero=False), None, {EQUAL: 1.0})
    assert said == []


def outcome():
    counts = {"steps": 2, "writes": 1, "errors": 0, "rewinds": 0}
    return Outcome("af_burden/a/b", 0.75, dict.fromkeys(TERMS, 0.25), counts, True)


def test_samples_are_shown_and_kept_now_and_then(tmp_path):
    text = io.StringIO()
    show = Samples(tmp_path, 10, Console(file=text, width=200))
    call = {"function": {"name": "skim", "arguments": {"duration": 600}}}
    rollout = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "skim", "content": "cursor [600] s\n" + "x" * 500},
        {"role": "assistant", "content": "Done."},
    ]
    for step in (0, 3, 9, 10, 12, 25):
        show([rollout], [outcome()], step)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "step-000000.txt",
        "step-000010.txt",
        "step-000025.txt",
    ]
    kept = (tmp_path / "step-000000.txt").read_text().splitlines()
    assert kept[0] == "af_burden/a/b: reward 1.5, score 0.750"
    assert kept[1] == '  > skim {"duration": 600}'
    assert kept[2].startswith("   cursor [600] s x")
    assert len(kept[2]) < 200
    assert kept[3] == "  > Done."
    assert "cursor [600] s" in text.getvalue()


def test_no_samples_if_none_are_asked_for(tmp_path):
    Samples(tmp_path, 0)([[]], [outcome()], 0)
    assert list(tmp_path.iterdir()) == []


def test_held_out_instances_are_evaluated_in_time_and_kept(tmp_path):
    saved, logged = [], []

    def save(folder):
        folder.mkdir(parents=True)
        saved.append(folder)

    watch = HeldOut(lambda model, step: {"all": step / 10}, save, tmp_path, 4, at_start=True)
    watch.log = logged.append
    watch.on_train_begin(None, state(0), None)
    for step in range(1, 9):
        watch.on_step_end(None, state(step), None)
    lines = [json.loads(line) for line in (tmp_path / "evaluations.jsonl").open()]
    assert lines == [{"step": 0, "all": 0.0}, {"step": 4, "all": 0.4}, {"step": 8, "all": 0.8}]
    assert logged == [{"held_out/all": 0.0}, {"held_out/all": 0.4}, {"held_out/all": 0.8}]
    assert len(saved) == 3
    assert not any(folder.exists() for folder in saved)


def test_a_resumed_run_replaces_its_line(tmp_path):
    scores = iter([0.1, 0.2])
    watch = HeldOut(
        lambda model, step: {"all": next(scores)}, lambda folder: None, tmp_path, every=4
    )
    watch.on_step_end(None, state(4), None)
    watch.on_train_begin(None, state(4), None)
    watch.on_step_end(None, state(4), None)
    lines = [json.loads(line) for line in (tmp_path / "evaluations.jsonl").open()]
    assert lines == [{"step": 4, "all": 0.2}]


def test_every_process_saves_and_one_plays(tmp_path):
    saved, played = [], []
    watch = HeldOut(lambda *given: played.append(given), saved.append, tmp_path, every=1)
    watch.on_step_end(None, state(1, is_world_process_zero=False), None)
    assert len(saved) == 1
    assert played == []


def test_the_bar_shows_the_newest_figures():
    text = io.StringIO()
    bar = RichProgress(Console(file=text, width=160, force_terminal=True))
    bar.on_train_begin(None, state(0), None)
    bar.on_step_end(None, state(5), None)
    bar.on_log(None, state(5), None, {"loss": "0.12345", "reward": None, "other": 3})
    bar.on_train_end(None, state(10), None)
    assert "loss 0.1235" in text.getvalue()
    assert "5/10" in text.getvalue()
