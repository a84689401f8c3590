"""Prompts: one per task, complete, and hashed as a whole."""

from __future__ import annotations

import pytest

from ecgscroll.tasks import TASKS
from policies.prompts import judge_prompt, planning_prompt, prompts_digest, tasks_with_prompts

CORE = (
    "episode_detection", "af_burden", "change_detection", "ischemia", "pvc_burden", "rare_event",
)  # fmt: skip
TOOL = {"af": "classify_rhythm", "ischemia": "flag_ischemia", "pvc": "classify_beats"}


@pytest.mark.parametrize("task", CORE)
def test_each_task_has_a_prompt_that_names_its_label_tool_only_where_there_is_one(task):
    assert task in tasks_with_prompts()
    tool = TOOL[TASKS[task].event]
    assert f"tool {tool}" in planning_prompt(task, "reference")
    assert tool not in planning_prompt(task, None)
    assert f"tool {tool}" in judge_prompt(task, "signal", 30)


@pytest.mark.parametrize("task", list(TASKS))
@pytest.mark.parametrize("dx", [None, "reference"])
def test_every_prompt_is_filled_in_and_tells_what_counts(task, dx):
    planning, judge = planning_prompt(task, dx), judge_prompt(task, dx, 30.0)
    for text in (planning, judge):
        assert "{" not in text
        assert "Write " not in judge
    assert "What is not written scores zero" in planning
    for action in ("skim(", "measure(", "write(", "finish("):
        assert action in planning
    assert "chunks of 30 s" in judge
    assert "flag_chunks" in judge


def test_two_tasks_on_one_event_differ():
    texts = {planning_prompt(task, None) for task in CORE}
    assert len(texts) == len(CORE)


def test_the_digest_is_a_hash():
    assert len(prompts_digest()) == 64
