"""Made-up recordings that every machine has, a run on some, and its page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from report_fakes import IDS, call, talk

import ecgscroll
from ecgscroll.environment.env import ECGScrollEnv
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.synth import RecordPlan, preset, write_database

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture
def env(synth_data: Path) -> ECGScrollEnv:
    """A PVC burden environment with labels, at the beginning of an episode."""
    made = ecgscroll.make("pvc_burden/synth/ectopy01", data=synth_data, dx="reference")
    made.reset(seed=0)
    return made


@pytest.fixture(scope="session")
def reported_recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three short synthetic recordings."""
    data = tmp_path_factory.mktemp("report_data")
    kinds = (("paf", 300.0, 19), ("ectopy", 240.0, 3), ("rare", 240.0, 2))
    plans = [
        RecordPlan(f"{kind}01", preset(kind, seed, length), seed) for kind, length, seed in kinds
    ]
    write_database(data / "synth", plans)
    return data


@pytest.fixture(scope="session")
def reported_run(reported_recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three episodes; in the first a hostile model speaks. Only read it."""
    folder = tmp_path_factory.mktemp("report") / "run"
    ids = folder.with_name("ids.txt")
    ids.write_text("\n".join(IDS))
    done = call(
        "run",
        "--dx",
        "reference",
        "--instances",
        ids,
        "--data",
        reported_recordings,
        "--out",
        folder,
    )
    assert done.exit_code == 0, done.output
    talk(RunFolder(folder).episode_path(IDS[0]))
    return folder


@pytest.fixture(scope="session")
def page(reported_run: Path, reported_recordings: Path) -> Path:
    """The run's page, at the default size."""
    out = reported_run.with_name("page.html")
    done = call("report", reported_run, "--data", reported_recordings, "--out", out)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="session")
def rolled_run(reported_recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two instances, three rollouts each: one finishes, one fails, one is stopped."""
    folder = tmp_path_factory.mktemp("rolled") / "run"
    ids = folder.with_name("ids.txt")
    ids.write_text("\n".join(IDS[:2]))
    words = ("--policy", "report_fakes:Talker", "--rollouts", 3, "--max-steps", 6, "--workers", 1)
    where = ("--instances", ids, "--data", reported_recordings, "--out", folder)
    done = call("run", *words, *where)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="session")
def rolled_page(rolled_run: Path, reported_recordings: Path) -> Path:
    """The page of the run with several rollouts."""
    out = rolled_run.with_name("page.html")
    done = call("report", rolled_run, "--data", reported_recordings, "--out", out)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
    with sync_api.sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = next(filter(None, map(shutil.which, BROWSERS)), None)
        if path is None and not own.exists():
            pytest.skip("no Chromium: install Debian's chromium, or run playwright install")
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser, page):
    """Open the page; afterwards nothing may have been logged, raised or fetched."""
    contexts, trouble = [], []

    def see(anchor="", *, file=page, width=1300, height=900, scheme="light", **options):
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        tab = context.new_page()
        tab.on("console", lambda message: trouble.append(message.text))
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("request", lambda r: r.url.startswith("file:") or trouble.append(r.url))
        tab.goto(f"file://{file}{anchor}")
        tab.wait_for_selector("html[data-ready]")
        contexts.append(context)
        return tab

    yield see
    for context in contexts:
        context.close()
    assert trouble == []
