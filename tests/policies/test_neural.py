"""The neural policy: what it chooses among, its checkpoint, and that it plays."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ecgscroll
from ecgscroll.errors import ConfigError

pytest.importorskip("torch")

import torch
from safetensors.numpy import save

from policies.expert import Expert, plan_for
from policies.expert.view import MEMORY, Turn, View
from policies.neural import SHIPPED, Neural, chosen_by
from policies.neural.candidates import candidates
from policies.neural.checkpoint import (
    CONFIGURATION,
    WEIGHTS,
    Shape,
    load_arrays,
    save_network,
)
from policies.neural.features import CANDIDATE, STATE, candidate_features, state_features
from policies.neural.network import Network
from policies.neural.scorer import Scorer

INSTANCES = (
    "episode_detection/synth/paf01", "change_detection/synth/paf01",
    "pvc_burden/synth/ectopy01", "rare_event/synth/rare01", "ischemia/synth/ischemia01",
)  # fmt: skip


def walked(instance: str, dx: Any, data: Path) -> list[tuple[View, Any]]:
    """Views of an episode of the expert, and its calls."""
    env = ecgscroll.make(instance, data=data, dx=dx)
    obs, info = env.reset(seed=0)
    expert, turns, found, over = Expert(), deque[Turn](maxlen=MEMORY), [], False
    expert.reset(info)
    while not over:
        view = View(info["task"], float(obs["cursor"]), float(obs["total"]), tuple(turns))
        call = expert.act(obs, info)
        found.append((view, call))
        obs, _, terminated, truncated, info = env.step(call)
        turns.append(Turn(call["name"], info["result"]))
        over = terminated or truncated
    return found


@pytest.fixture(scope="module")
def network() -> Network:
    torch.manual_seed(3)
    return Network(Shape(hidden=16)).eval()


@pytest.fixture
def folder(network: Network, tmp_path: Path) -> Path:
    save_network(network.arrays(), network.shape, tmp_path / "model", {"kind": "neural"})
    return tmp_path / "model"


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize("dx", [None, "signal", "reference"])
def test_what_the_expert_does_is_among_the_candidates(
    instance: str, dx: Any, synth_data: Path
) -> None:
    for view, call in walked(instance, dx, synth_data):
        found = candidates(view, dx)
        index = chosen_by(call, found)
        assert index is not None, (view, call)
        taken = found[index].call
        assert taken["name"] == call["name"]
        assert plan_for(view.task, dx)(view) == call
        assert state_features(view, dx).shape == (STATE,)
        features = candidate_features(view, found)
        assert features.shape == (len(found), CANDIDATE)
        assert np.isfinite(features).all()


def test_every_candidate_is_a_sound_call(synth_data: Path) -> None:
    env = ecgscroll.make("episode_detection/synth/paf01", data=synth_data, dx="reference")
    for view, _ in walked("episode_detection/synth/paf01", "reference", synth_data)[:12]:
        env.reset(seed=0)
        if view.cursor:
            env.step({"name": "skim", "arguments": {"duration": view.cursor}})
        for one in candidates(view, "reference"):
            if one.call["name"] in ("measure", "write"):
                *_, info = env.clone().step(one.call)
                assert "error" not in info["result"], one.call


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_it_plays_and_repeats_itself(folder: Path, synth_data: Path, temperature: float) -> None:
    def calls() -> list[Any]:
        policy = Neural(folder, temperature=temperature, seed=4)
        env = ecgscroll.make("pvc_burden/synth/ectopy01", data=synth_data, budget=40)
        obs, info = env.reset(seed=1)
        policy.reset(info)
        made, over = [], False
        while not over:
            made.append(policy.act(obs, info))
            obs, _, terminated, truncated, info = env.step(made[-1])
            over = terminated or truncated
        assert info["counts"]["errors"] == 0
        return made

    assert calls() == calls()


def test_a_checkpoint_gives_the_same_scores(network: Network, folder: Path) -> None:
    state, found = torch.randn(2, STATE), torch.randn(2, 5, CANDIDATE)
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    again = Network.load(folder)
    with torch.inference_mode():
        logits = network(state, found, mask)
        assert torch.equal(again(state, found, mask), logits)
    assert torch.isinf(logits[1, 2:]).all()
    assert Neural.fingerprint(folder) == Neural.fingerprint(folder)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda f: (f / WEIGHTS).unlink(), "holds no neural checkpoint"),
        (lambda f: (f / CONFIGURATION).unlink(), "holds no neural checkpoint"),
        (lambda f: (f / WEIGHTS).write_bytes(b"\x80\x04pickle"), "is damaged"),
        (lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-40]), "is damaged"),
        (lambda f: (f / CONFIGURATION).write_text("[]"), "is damaged"),
        (lambda f: (f / CONFIGURATION).write_text('{"shape": {"hidden": "x"}}'), "is damaged"),
        (lambda f: (f / CONFIGURATION).write_text('{"shape": {"depth": 3}}'), "is damaged"),
        (lambda f: (f / CONFIGURATION).write_text('{"shape": {"hidden": Infinity}}'), "is damaged"),
        (lambda f: (f / CONFIGURATION).write_text('{"shape": {"hidden": 16.5}}'), "is damaged"),
        (lambda f: (f / CONFIGURATION).write_text('{"shape": {"hidden": 10000000}}'), "1 to 4096"),
        (lambda f: (f / CONFIGURATION).write_text('{"shape": {"state": 3}}'), "other features"),
        (lambda f: (f / CONFIGURATION).write_text('{"shape": {"hidden": 32}}'), "do not fit"),
    ],
)
def test_a_spoilt_checkpoint_is_refused_in_a_sentence(
    folder: Path, spoil: Any, sentence: str
) -> None:
    spoil(folder)
    with pytest.raises(ConfigError, match=sentence):
        Neural(folder)


def test_weights_that_are_no_numbers_are_refused(network: Network, tmp_path: Path) -> None:
    broken = Network(Shape(hidden=16))
    with torch.no_grad():
        broken.candidate.weight.fill_(float("nan"))
    save_network(broken.arrays(), broken.shape, tmp_path, {})
    with pytest.raises(ConfigError, match="not finite"):
        load_arrays(tmp_path)


@pytest.mark.parametrize("kind", [np.float64, np.int8])
def test_weights_of_another_type_are_refused(kind: Any, network: Network, tmp_path: Path) -> None:
    """1e300 is finite as it is stored, and infinite once it is read."""
    save_network(network.arrays(), network.shape, tmp_path, {})
    huge = {
        name: np.full(one.shape, 1e300 if kind is np.float64 else 1, kind)
        for name, one in network.arrays().items()
    }
    (tmp_path / WEIGHTS).write_bytes(save(huge))
    with pytest.raises(ConfigError, match="do not fit"):
        load_arrays(tmp_path)


@pytest.mark.parametrize("layers", [1, 2])
def test_numpy_scores_as_torch_does(layers: int, tmp_path: Path) -> None:
    torch.manual_seed(layers)
    made = Network(Shape(hidden=24, layers=layers)).eval()
    save_network(made.arrays(), made.shape, tmp_path, {})
    rng = np.random.default_rng(0)
    for count in (1, 7, 200):
        state = rng.normal(size=STATE).astype(np.float32)
        found = rng.normal(size=(count, CANDIDATE)).astype(np.float32)
        scores = Scorer.load(tmp_path).scores(state, found)
        assert scores == pytest.approx(made.scores(state, found), abs=1e-4)


def test_playing_needs_no_torch(folder: Path) -> None:
    code = f"""if True:
        import sys
        from policies.neural import Neural
        Neural({str(folder)!r})
        print("torch" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_record_stands_beside_the_sizes(folder: Path) -> None:
    about = json.loads((folder / CONFIGURATION).read_text())
    assert about["kind"] == "neural"
    assert about["shape"]["hidden"] == 16


def test_the_shipped_checkpoint_is_small_and_has_a_card() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 5_000_000
    assert json.loads((SHIPPED / CONFIGURATION).read_text())["kind"] == "neural"
    about = json.loads((SHIPPED / "training.json").read_text())
    assert set(about["data"]) == {"train", "held_out"}
    assert "training.neural" in (SHIPPED / "README.md").read_text()


@pytest.mark.parametrize("instance", INSTANCES)
def test_the_shipped_checkpoint_reads_synthetic_recordings(instance: str, synth_data: Path) -> None:
    assert score(instance, "reference", synth_data) > 0.85


@pytest.mark.parametrize(("dx", "least"), [(None, 0.5), ("reference", 0.9)])
def test_it_finds_first_onsets_of_patients_that_it_never_saw(
    dx: Any, least: float, data: Path
) -> None:
    records = [path.stem for path in sorted((data / "afdb").glob("*.qrs"))]
    records = [name for name in records if name not in ("00735", "03665")][::2]
    found = [score(f"change_detection/afdb/{name}", dx, data) for name in records]
    assert sum(found) / len(found) >= least


def score(instance: str, dx: Any, data: Path) -> float:
    policy, env = Neural(), ecgscroll.make(instance, data=data, dx=dx)
    obs, info = env.reset(seed=0)
    policy.reset(info)
    over = False
    while not over:
        obs, _, terminated, truncated, info = env.step(policy.act(obs, info))
        over = terminated or truncated
    return float(info["score"].value)
