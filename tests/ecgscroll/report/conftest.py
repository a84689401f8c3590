from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ecgscroll.cli.main import app
from ecgscroll.evaluation.folder import RunFolder
from ecgscroll.synth import RecordPlan, preset, write_database

IDS = ("episode_detection/synth/paf01", "pvc_burden/synth/ectopy01", "rare_event/synth/rare01")
HOSTILE = (
    '</script><script>document.title="owned"</script><img src=x onerror="document.title=1">'
    "<!--\u2028\u2029{{ 7*7 }}\ud800"
)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def talk(path):
    """Give every step of a transcript a model that says what must never become markup."""
    first, *steps, last = path.read_text().splitlines()
    spoken = []
    for line in steps:
        step = json.loads(line)
        step["model"] = {
            "messages": [
                {"role": "system", "content": HOSTILE},
                {"role": HOSTILE, "content": [{"type": "text", "text": HOSTILE}]},
            ],
            "reply": {"role": "assistant", "content": HOSTILE, "tool_calls": [HOSTILE]},
            "usage": {"prompt_tokens": 812, HOSTILE: HOSTILE},
        }
        spoken.append(json.dumps(step))
    path.write_text("\n".join([first, *spoken, last]) + "\n")


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """Three short synthetic recordings."""
    data = tmp_path_factory.mktemp("report_data")
    kinds = (("paf", 300.0, 19), ("ectopy", 240.0, 3), ("rare", 240.0, 2))
    plans = [
        RecordPlan(f"{kind}01", preset(kind, seed, length), seed) for kind, length, seed in kinds
    ]
    write_database(data / "synth", plans)
    return data


@pytest.fixture(scope="session")
def run(recordings, tmp_path_factory):
    """A run of three episodes; in the first a hostile model speaks. Only read it."""
    folder = tmp_path_factory.mktemp("report") / "run"
    ids = folder.with_name("ids.txt")
    ids.write_text("\n".join(IDS))
    done = call(
        "run", "--dx", "reference", "--instances", ids, "--data", recordings, "--out", folder
    )
    assert done.exit_code == 0, done.output
    talk(RunFolder(folder).episode_path(IDS[0]))
    return folder


@pytest.fixture(scope="session")
def page(run, recordings):
    """The run's page, at the default size."""
    out = run.with_name("page.html")
    done = call("report", run, "--data", recordings, "--out", out)
    assert done.exit_code == 0, done.output
    return out
