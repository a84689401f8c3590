from __future__ import annotations

import json
import re
import shutil

import pytest
from report_fakes import HOSTILE, IDS, call, opened, pack_of

from ecgscroll.errors import ConfigError
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.report.page import build_page


@pytest.fixture
def copy(reported_run, tmp_path):
    """The reported_run, to be damaged."""
    return RunFolder(shutil.copytree(reported_run, tmp_path / "copy"))


def states(page):
    return [row["state"] for row in opened(pack_of(page, "index"))[0]]


def test_the_page_says_what_was_run_and_how_it_went(reported_run, page):
    text = page.read_text()
    stored = RunFolder(reported_run).stored()
    for fact in ("rule, dx reference", "committed scoring", stored["digest"][:16], "pvc burden"):
        assert fact in text
    summary = json.loads((reported_run / "summary.json").read_text())
    assert f"{summary['tasks']['pvc_burden']['score']['mean']:.3f}" in text
    assert "errors as 0 (95 %)" in text
    assert [row["id"] for row in opened(pack_of(text, "index"))[0]] == list(IDS)


def test_what_a_model_says_is_nowhere_in_the_source(page):
    text = page.read_text()
    assert "owned" not in text
    assert "onerror" not in text
    assert text.count("<script>") == text.count("<style>") == 1
    value, _ = opened(pack_of(text, "e0"))
    assert value["steps"][0]["model"]["reply"]["content"] == HOSTILE


def test_an_option_that_is_markup_stays_text(copy):
    stored = json.loads((copy.path / "config.json").read_text())
    stored["provenance"]["commit"] = "<b onclick=x>"
    (copy.path / "config.json").write_text(json.dumps(stored))
    assert "<b onclick" not in build_page(copy, None)


def test_nothing_can_be_fetched(page):
    text = page.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)


@pytest.mark.parametrize("size", [0.4, 1.0])
def test_the_page_keeps_to_its_size(reported_run, reported_recordings, size):
    assert (
        0.5 * size * 1e6
        < len(build_page(RunFolder(reported_run), reported_recordings, size))
        <= size * 1e6
    )


def test_a_size_that_holds_nothing_is_refused(reported_run):
    for size in (0.0, -1.0, float("nan")):
        with pytest.raises(ConfigError, match="--max-mb"):
            build_page(RunFolder(reported_run), None, size)


def test_without_recordings_the_page_says_so(reported_run, tmp_path):
    page = build_page(RunFolder(reported_run), tmp_path)
    names, _ = opened(pack_of(page, "names"))
    assert all("not in the data folder" in one["note"] for one in names["recordings"])
    assert pack_of(page, "r0") is None


def test_a_run_under_way_and_damaged_transcripts_are_rows(copy):
    copy.episode_path(IDS[0]).unlink()
    copy.episode_path(IDS[1]).write_text("half a li")
    assert states(build_page(copy, None)) == ["missing", "damaged", "played"]


def test_a_damaged_step_is_counted_and_the_rest_kept(copy):
    path = copy.episode_path(IDS[1])
    lines = path.read_text().splitlines()
    lines[2], lines[3] = "[" * 100_000, '{"action"'
    path.write_text("\n".join(lines) + "\n")
    page = build_page(copy, None)
    assert opened(pack_of(page, "index"))[0][1]["unread"] == 2
    assert len(opened(pack_of(page, "e1"))[0]["steps"]) == len(lines) - 4


def test_a_run_without_any_episode_has_a_page(copy):
    shutil.rmtree(copy.episodes)
    page = build_page(copy, None)
    assert "No episode has ended yet" in page
    assert states(page) == ["missing"] * 3


def test_the_same_run_gives_the_same_page(reported_run, reported_recordings, page):
    assert build_page(RunFolder(reported_run), reported_recordings) == page.read_text()


def test_the_command_says_where_the_page_is(reported_run, reported_recordings, tmp_path):
    out = tmp_path / "page.html"
    done = call("report", reported_run, "--data", reported_recordings, "--out", out, "--json")
    assert json.loads(done.stdout) == {"page": str(out), "bytes": out.stat().st_size}


def test_a_folder_that_holds_no_run_is_refused(tmp_path):
    done = call("report", tmp_path)
    assert "holds no run" in str(done.exception)
