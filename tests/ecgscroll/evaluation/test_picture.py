"""The picture of an episode: drawn from its transcript alone, refused where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ecgscroll.cli.main import app
from ecgscroll.errors import ConfigError
from ecgscroll.evaluation import picture
from ecgscroll.evaluation.folder import read_rows

pytest.importorskip("matplotlib")
INSTANCE = "rare_event/synth/rare01"


@pytest.fixture(scope="module")
def run(synth_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("picture") / "run"
    ids = folder.with_name("ids.txt")
    ids.write_text(f"{INSTANCE}\n")
    command = ["run", "--dx", "reference", "--instances", str(ids), "--data", str(synth_data)]
    done = CliRunner().invoke(app, [*command, "--out", str(folder), "--workers", "1"])
    assert done.exit_code == 0, done.output
    return folder


def test_a_transcript_tells_every_skim_bin_and_every_entry(run: Path) -> None:
    told = picture.tell(run, INSTANCE)
    assert told.cue == "ectopy"
    assert told.bins[0][0] == 0.0
    assert all(
        stop == start for (_, stop, _), (start, _, _) in zip(told.bins, told.bins[1:], strict=False)
    )
    assert told.score == read_rows(run / "results.jsonl")[0]["score"]
    assert [entry["type"] for entry in told.entries] == ["pvc"] * len(told.entries)


def test_an_episode_that_was_not_run_is_refused(run: Path) -> None:
    with pytest.raises(ConfigError, match="holds no finished episode"):
        picture.tell(run, "rare_event/synth/ectopy01")


def test_a_picture_is_written(run: Path, synth_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "images" / "episode.png"
    picture.main(run, INSTANCE, synth_data, out)
    assert out.read_bytes().startswith(b"\x89PNG")
