import json
from types import SimpleNamespace

import pytest
from scoring_fakes import INSTANCES, TASK_EVENT, TOTAL

from ecgscroll.errors import ConfigError, DataError
from ecgscroll.scoring import exploits
from ecgscroll.scoring.checks import compare, read_run, shared_scoring, try_exploits
from ecgscroll.scoring.floors import STRATEGIES, floor_ledgers
from ecgscroll.scoring.verifiers import verify


def instances(task, count=3):
    base = vars(INSTANCES[task])
    return [
        SimpleNamespace(**base, id=f"{task}/db/{k}", patient=f"db/{k}", data=None)
        for k in range(count)
    ]


def row(instance, score=0.5, error=None, scoring="committed", **more):
    named = {"instance": instance, "policy": "rule", "dx": None, "scoring": scoring}
    return named | {"score": score, "error": error} | more


def run_folder(folder, rows):
    folder.mkdir(exist_ok=True)
    text = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows)
    (folder / "results.jsonl").write_text(text)
    return folder


@pytest.mark.parametrize("task", sorted(TASK_EVENT))
def test_the_table_holds_every_strategy_with_the_verifiers_mean(task):
    agents = compare(instances(task), scoring="published")[task]
    assert [agent.name for agent in agents] == list(STRATEGIES)
    for agent in agents:
        ledger = floor_ledgers(INSTANCES[task])[agent.name]
        want = verify(INSTANCES[task], ledger, scoring="published")
        assert agent.summary.score.mean == pytest.approx(want.value)
        assert agent.missed_share == pytest.approx(want.latency.missed_share)


def test_hits_have_wilson_intervals_and_other_scores_the_bootstrap():
    methods = {task: compare(instances(task))[task][0].summary.score.method for task in TASK_EVENT}
    assert {task for task, method in methods.items() if method == "wilson"} == {
        "change_detection",
        "rare_event",
    }


def test_a_run_stands_beside_the_strategies_with_its_errors_apart(tmp_path):
    late = {"events": 3, "missed": 1}
    rows = [row("af_burden/db/0", 0.9, latency=late), row("af_burden/db/1", None, "It broke.")]
    run = read_run(run_folder(tmp_path / "mine", rows))
    agent = compare(instances("af_burden"), [run])["af_burden"][-1]
    assert (agent.name, agent.floor) == ("rule, dx none (mine)", False)
    assert (agent.summary.score.mean, agent.summary.with_errors.mean) == (0.9, 0.45)
    assert agent.summary.errors == 1
    assert agent.missed_share == pytest.approx(1 / 3)


def test_all_rows_are_over_the_instances_that_every_run_played(tmp_path):
    first = read_run(run_folder(tmp_path / "a", [row("af_burden/db/0"), row("af_burden/db/1")]))
    second = read_run(run_folder(tmp_path / "b", [row("af_burden/db/1"), row("af_burden/db/2")]))
    agents = compare(instances("af_burden"), [first, second])["af_burden"]
    assert {agent.summary.with_errors.n for agent in agents} == {1}


def test_the_scoring_is_that_of_the_runs_unless_they_differ(tmp_path):
    published = read_run(run_folder(tmp_path / "a", [row("x", scoring="published")]))
    committed = read_run(run_folder(tmp_path / "b", [row("x")]))
    assert shared_scoring(None, []) == "committed"
    assert shared_scoring(None, [published]) == "published"
    with pytest.raises(ConfigError, match="rescore"):
        shared_scoring("committed", [published])
    with pytest.raises(ConfigError, match="rescore"):
        shared_scoring(None, [published, committed])


@pytest.mark.parametrize(
    "bad",
    ["{", "[1]", "[" * 100_000, json.dumps({"instance": "x"}), row("x", score=1.5), row(7),
     row("x", score="1"), row("x", scoring="kind"), row("x", score=float("nan"))],
)  # fmt: skip
def test_a_line_that_is_no_result_is_named_by_its_number(tmp_path, bad):
    with pytest.raises(DataError, match="Line 2 "):
        read_run(run_folder(tmp_path / "run", [row("x"), bad]))


def test_hostile_latencies_are_left_out(tmp_path):
    rows = [row("af_burden/db/0", latency={"events": "9", "missed": [1]})]
    run = read_run(run_folder(tmp_path / "run", rows))
    assert compare(instances("af_burden"), [run])["af_burden"][-1].missed_share is None


def test_a_folder_without_results_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="finished run"):
        read_run(tmp_path)
    with pytest.raises(DataError, match="no results"):
        read_run(run_folder(tmp_path / "empty", []))


def test_exploits_are_tried_on_every_task_and_none_pays():
    chosen = [one for task in sorted(TASK_EVENT) for one in instances(task, 2)]
    report = try_exploits(chosen)
    assert report.breaches == ()
    assert {name.split("/")[0] for name in report.instances} == set(TASK_EVENT)


def test_exploits_are_tried_on_a_few_of_many_spread_over_the_list():
    report = try_exploits(instances("change_detection", 60))
    assert report.instances[:2] == ("change_detection/db/0", "change_detection/db/10")
    assert len(report.instances) == 6


# --- the command ---


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Run ``check`` on fakes and return (exit code, standard output)."""
    import typer
    from typer.testing import CliRunner

    from ecgscroll.cli import check as module

    def select(folder, *, tasks=(), ids=(), **_):
        found = [one for task in sorted(TASK_EVENT) for one in instances(task, 2)]
        found = [one for one in found if not tasks or one.task in tasks]
        return [one for one in found if not ids or one.id in ids], []

    monkeypatch.setattr(module, "select", select)
    monkeypatch.setattr(module, "find_data", lambda _data: (tmp_path, False))
    app = typer.Typer()
    app.command()(module.check)

    def invoke(*arguments):
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, result.stdout

    return invoke


def test_check_prints_a_table_per_task_and_the_verdict(command):
    code, text = command()
    assert code == 0
    assert all(task in text for task in TASK_EVENT)
    assert "tiny at start" in text
    assert "none pays" in text


def test_check_as_json_is_one_document(command):
    code, text = command("--json", "--tasks", "af_burden, ischemia")
    told = json.loads(text)
    assert code == 0
    assert list(told["tasks"]) == ["af_burden", "ischemia"]
    assert told["exploits"]["passed"] is True
    assert told["instances"] == 4


def test_check_shows_a_run_on_its_own_instances(command, tmp_path):
    folder = run_folder(tmp_path / "run", [row("af_burden/db/1", 0.75, scoring="published")])
    told = json.loads(command("--json", "--run", str(folder))[1])
    assert told["scoring"] == "published"
    assert list(told["tasks"]) == ["af_burden"]
    assert told["tasks"]["af_burden"][-1]["score"]["mean"] == 0.75


def test_check_exits_1_when_an_exploit_pays(command, monkeypatch):
    def pays(instance, base):
        return [{"type": TASK_EVENT[instance.task], "t0": 0.0, "t1": 29.0, "cursor": TOTAL}]

    monkeypatch.setitem(exploits.EXPLOITS, "pays", pays)
    code, text = command("--tasks", "af_burden")
    assert code == 1
    assert "pays on af_burden/db/0" in text


@pytest.mark.real
def test_check_on_real_recordings_has_a_write_per_beat(data, monkeypatch):
    import typer
    from typer.testing import CliRunner

    from ecgscroll.cli.check import check

    app = typer.Typer()
    app.command()(check)
    arguments = ["--data", str(data), "--tasks", "rare_event", "--limit", "2", "--json"]
    told = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert told["tasks"]["rare_event"][-1]["agent"] == "every_beat"
    assert told["exploits"]["passed"]
