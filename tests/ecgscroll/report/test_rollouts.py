"""Several rollouts of an instance, with a model's transcript, an error and a limit."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest
from report_fakes import IDS, opened, pack_of

from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.report.page import build_page
from ecgscroll.report.story import read_stories


@pytest.fixture
def copy(rolled_run, tmp_path):
    """The run, to be damaged."""
    return RunFolder(shutil.copytree(rolled_run, tmp_path / "copy"))


def rows(page):
    return opened(pack_of(page, "index"))[0]


def end_of(path, change):
    *lines, last = path.read_text().splitlines()
    end = json.loads(last)
    change(end)
    path.write_text("\n".join([*lines, json.dumps(end)]) + "\n")


def test_every_rollout_is_an_episode_of_its_own(rolled_page):
    found = rows(rolled_page.read_text())
    assert [(row["id"], row["rollout"]) for row in found] == [
        (name, turn) for name in IDS[:2] for turn in range(3)
    ]
    assert Counter((row["state"], row["ended"]) for row in found) == {
        ("played", "finish"): 2, ("failed", "error"): 2, ("played", "steps"): 2,
    }  # fmt: skip
    assert all(row["usage"]["requests"] >= 3 for row in found)


def test_what_did_not_come_to_its_end_is_counted_apart(rolled_page):
    text = rolled_page.read_text()
    assert "6 of 6 episodes ended (2 instances, 3 rollouts each)" in text
    assert "Ended in an error: 2." in text
    assert "Stopped by the limit of steps: 2." in text


def test_seeds_limits_and_rollouts_are_among_what_was_run(rolled_page):
    text = rolled_page.read_text()
    for fact in ("environment 0", "bootstrap 0", "steps 6", "recordings, SHA-256"):
        assert fact in text


def test_intervals_are_those_of_the_run(rolled_run):
    stored = json.loads((rolled_run / "summary.json").read_text())["tasks"]
    text = build_page(RunFolder(rolled_run), None)
    for task in stored.values():
        assert f"{task['with_errors']['mean']:.3f}" in text


def test_the_bootstrap_seed_is_the_bootstraps(rolled_run, monkeypatch):
    from ecgscroll.report import page as module

    seeds = []
    told = module.summarise_run

    def telling(outcomes, seed, parameters):
        seeds.append(seed)
        return told(outcomes, seed, parameters)

    monkeypatch.setattr(module, "summarise_run", telling)
    folder = RunFolder(rolled_run)
    config = folder.config()
    object.__setattr__(config, "bootstrap_seed", 17)
    monkeypatch.setattr(RunFolder, "config", lambda self: config)
    build_page(folder, None)
    assert seeds == [17]


def test_steps_have_their_times_where_these_very_steps_were_timed(copy):
    stories = read_stories(copy)
    assert all(len(one.step_seconds) == len(one.steps) for one in stories)
    assert all(one.model_seconds > 0 for one in stories)
    timing = copy.path / "timing.jsonl"
    odd = [
        {"instance": IDS[0], "rollout": 0, "seconds": "long", "step_seconds": [1.0]},
        {"instance": IDS[0], "rollout": 1, "step_seconds": [None] * 3, "seconds": float("nan")},
        {"instance": [1], "rollout": {}}, {"rollout": 2}, 7,
    ]  # fmt: skip
    timing.write_text(timing.read_text() + "\n".join(map(json.dumps, odd)) + '\n{"insta')
    first, second, third, *_ = read_stories(copy)
    assert (first.seconds, first.step_seconds, second.seconds, second.step_seconds) == (
        (None, (), None, ())
    )
    assert third.seconds is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda end: end.update(events=None),
        lambda end: end.update(ledger=None),
        lambda end: end["row"].update(score="high"),
        lambda end: end["row"].update(duration_s=None),
        lambda end: end["row"].update(rollout=7),
    ],
)
def test_a_damaged_end_is_a_damaged_episode_and_no_crash(copy, change):
    end_of(copy.episode_path(IDS[0], 2), change)
    found = rows(build_page(copy, None))
    assert [row["state"] for row in found[:3]] == ["played", "failed", "damaged"]


def test_a_torn_last_line_leaves_the_steps(copy):
    path = copy.episode_path(IDS[0])
    path.write_bytes(path.read_bytes()[:-40])
    page = build_page(copy, None)
    assert rows(page)[0]["state"] == "damaged"
    assert len(opened(pack_of(page, "e0"))[0]["steps"]) == 5


def test_a_text_that_the_transcript_cut_is_not_cut_again(copy):
    path = copy.episode_path(IDS[0])
    said = "x" * 20_000 + "... (cut: 1000000 characters)"
    first, step, *rest = path.read_text().splitlines()
    held = json.loads(step)
    held["model"]["reply"]["text"] = said
    path.write_text("\n".join([first, json.dumps(held), *rest]) + "\n")
    value = opened(pack_of(build_page(copy, None), "e0"))[0]
    assert value["steps"][0]["model"]["reply"]["text"] == said


def test_an_episode_in_brief_keeps_what_its_model_said(copy):
    step = read_stories(copy)[0].brief()[0]
    assert step["model"]["reply"] == "so I skim"
    assert step["model"]["usage"]["prompt_tokens"] == 1234
    assert "messages" not in step["model"]


def test_names_that_no_file_could_hold_do_not_break_the_page(copy):
    stored = json.loads((copy.path / "config.json").read_text())
    stored["provenance"]["commit"] = "a\ud800\x00\u202eb\x1b[31m"
    (copy.path / "config.json").write_text(json.dumps(stored))
    text = build_page(copy, None)
    assert "a⟨D800⟩⟨00⟩⟨202E⟩b⟨1B⟩[31" in text
    text.encode()


@pytest.mark.parametrize(
    "origin", [None, [1], {"commit": 5, "packages": [1]}, {"packages": "x", "python": None}]
)
def test_a_provenance_of_another_shape_is_no_crash(copy, origin):
    stored = json.loads((copy.path / "config.json").read_text())
    (copy.path / "config.json").write_text(json.dumps({**stored, "provenance": origin}))
    assert "What was run" in build_page(copy, None)
