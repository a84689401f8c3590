from __future__ import annotations

from ecgscroll.evaluation import warming


def test_kernels_are_compiled_once_for_a_state_of_the_source(tmp_path, monkeypatch):
    walked = []
    monkeypatch.setattr(warming, "code_folder", lambda: tmp_path)
    monkeypatch.setattr(warming, "_walk", lambda one, data: walked.append(one.task))
    assert [warming.compile_kernels() for _ in range(3)] == [True, False, False]
    assert walked == ["pvc_burden"]


def test_where_no_code_is_kept_nothing_is_compiled_ahead(monkeypatch):
    monkeypatch.setattr(warming, "code_folder", lambda: None)
    assert not warming.compile_kernels()


def test_the_walk_measures_without_a_bad_call(recordings, chosen, monkeypatch):
    steps = []
    make = warming.ecgscroll.make

    def watched(*arguments, **parameters):
        env = make(*arguments, **parameters)
        step = env.step
        monkeypatch.setattr(env, "step", lambda action: steps.append(step(action)))
        return env

    monkeypatch.setattr(warming.ecgscroll, "make", watched)
    warming._walk(next(one for one in chosen if one.task == "pvc_burden"), recordings)
    results = [info["result"] for *_, info in steps]
    assert len(results) > 40
    assert not [result for result in results[:40] if "error" in result]
