from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ecgscroll.catalogue.instances import Instance, Truth
from ecgscroll.cli.main import app
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.figures import _occupied, draw_behaviour, draw_coverage, draw_fibrillation
from ecgscroll.evaluation.loading import load_runs

pytest.importorskip("matplotlib")


def instance(events, duration=100.0):
    return Instance(
        id="af_burden/d/1", set="core", task="af_burden", database="d", record="1", patient="d/1",
        duration=duration, truth=Truth(0.5, tuple(events)),
    )  # fmt: skip


def test_overlapping_events_occupy_their_union_and_points_a_second():
    assert _occupied(instance([(0.0, 20.0), (10.0, 30.0)])) == pytest.approx(0.3)
    assert _occupied(instance([(50.0, 50.0), (50.5, 50.5)])) == pytest.approx(0.015)
    assert _occupied(instance([(0.0, 0.0)])) == pytest.approx(0.005)
    assert _occupied(instance([])) == 0.0


def test_the_command_draws_all_three(finished, recordings, tmp_path):
    words = [str(finished.path), "--data", str(recordings), "--out", str(tmp_path)]
    found = CliRunner().invoke(app, ["figures", *words, "--set", "supplementary"])
    assert found.exit_code == 0, found.output
    for name in ("fibrillation", "coverage", "behaviour"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_bars_are_as_long_as_the_means(finished):
    run = load_runs([finished.path])[0]
    left = draw_behaviour([run]).axes[0]
    shown = [patch.get_width() for patch in left.patches]
    tasks = {one.row["task"] for one in run.outcomes}
    per_task = [[one.row["skims"] for one in run.outcomes if one.row["task"] == t] for t in tasks]
    want = sum(sum(one) / len(one) for one in per_task) / len(tasks)
    assert shown[0] == pytest.approx(want, abs=0.01)


def test_nothing_to_draw_is_said():
    for draw in (draw_fibrillation, draw_coverage):
        with pytest.raises(ConfigError, match="annot"):
            draw([])
