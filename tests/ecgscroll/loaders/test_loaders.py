"""Datasets under DataLoader: shapes, labels, and the same set whatever the workers."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from wfdb_files import annotation_bytes, encode, write_record

from ecgscroll.errors import ConfigError, DataError

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from loaders_fakes import conversation, prompt, tokenizer
from torch.utils.data import DataLoader

import ecgscroll
from ecgscroll.loaders import (
    EpisodeData,
    LabelledChunks,
    PadTokens,
    Prompts,
    Rollouts,
    Trajectories,
    to_hugging_face,
    write_trajectories,
)
from ecgscroll.loaders.chunks import CHUNK_FEATURES

WANDERER = "loaders_fakes:Wanderer"
IDS = ("episode_detection/synth/paf01", "episode_detection/synth/paf02@60-400")
STARTS = [(0, None), (2, "fork"), (4, "fork"), (2, "spawn"), (4, "spawn")]

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker")


def loader(dataset, workers, start, **options):
    return DataLoader(dataset, num_workers=workers, multiprocessing_context=start, **options)


def as_text(items):
    """Items as lines that compare to the bit."""

    def plain(value):
        if isinstance(value, torch.Tensor):
            return value.numpy().tobytes().hex()
        return value

    return sorted(json.dumps({k: plain(v) for k, v in one.items()}) for one in items)


@pytest.fixture(scope="module")
def chunks(synth_data):
    return LabelledChunks(IDS, data=synth_data)


@pytest.fixture(scope="module")
def rollouts(synth_data):
    return Rollouts(WANDERER, IDS, data=synth_data, rollouts=3, seed=7)


@pytest.mark.parametrize(("workers", "start"), STARTS)
def test_the_same_episodes_whatever_the_workers(rollouts, workers, start):
    found = list(loader(rollouts, workers, start, batch_size=None))
    assert as_text(found) == as_text(rollouts)
    assert len(found) == len(rollouts) == len({(one["instance"], one["rollout"]) for one in found})


@pytest.mark.parametrize(("workers", "start"), STARTS[:4])
def test_the_same_chunks_whatever_the_workers(chunks, workers, start):
    found = list(loader(chunks, workers, start, batch_size=None))
    assert as_text(found) == as_text(chunks[index] for index in range(len(chunks)))


@pytest.mark.parametrize(("workers", "start"), [(0, None), (2, "fork")])
def test_shuffled_batches_are_the_same_under_a_seed(chunks, workers, start):
    def order(seed):
        generator = torch.Generator().manual_seed(seed)
        batches = loader(chunks, workers, start, batch_size=8, shuffle=True, generator=generator)
        return [(b["instance"], b["t0"].tolist()) for b in batches]

    serial = DataLoader(
        chunks, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(1)
    )
    assert order(1) == [(b["instance"], b["t0"].tolist()) for b in serial]
    assert order(1) != order(2)


def test_waveforms_are_the_recordings(chunks, synth_data):
    env = ecgscroll.make(IDS[1], data=synth_data)
    recording = env._source.recording
    one = chunks[30 + 2]  # 900 s of the first, then the third chunk of the span
    assert (one["instance"], float(one["t0"]), float(one["t1"])) == (IDS[1], 60.0, 90.0)
    assert one["waveform"].dtype == torch.float32
    assert one["waveform"].shape == (2, 7500) == one["valid"].shape
    own = recording.read(60 * 250, 90 * 250)
    assert np.array_equal(one["waveform"].numpy(), np.nan_to_num(own))
    assert len(chunks) == 30 + 11
    assert [chunks[-1][name] for name in ("t0", "label")] == [
        chunks[40][n] for n in ("t0", "label")
    ]
    with pytest.raises(IndexError):
        chunks[41]


def test_labels_are_the_truth(chunks, synth_data):
    truth = ecgscroll.get_instance(IDS[0], synth_data).truth.events
    for index in range(30):
        t0 = index * 30.0
        held = sum(max(0.0, min(b, t0 + 30) - max(a, t0)) for a, b in truth) / 30
        assert float(chunks[index]["share"]) == pytest.approx(held)
        assert int(chunks[index]["label"]) == (held >= 0.5)
    assert {int(chunks[index]["label"]) for index in range(30)} == {0, 1}


def test_beats_are_counted(synth_data):
    one = ecgscroll.get_instance("pvc_burden/synth/ectopy01", synth_data)
    found = LabelledChunks([one], content="features", seconds=20)
    shares = [float(found[index]["share"]) for index in range(len(found))]
    assert sum(shares) == len(one.truth.events)
    assert [int(found[index]["label"]) for index in range(len(found))] == [s > 0 for s in shares]


def test_features_are_finite_and_see_nothing_after_the_chunk(synth_data):
    whole = LabelledChunks(["af_burden/synth/paf01"], data=synth_data, content="features")
    short = LabelledChunks(["af_burden/synth/paf01@0-300"], data=synth_data, content="features")
    for index in (0, 3, 9):
        item = whole[index]["features"]
        assert item.shape == (len(CHUNK_FEATURES),)
        assert torch.isfinite(item).all()
        assert torch.equal(item, short[index]["features"])


def test_other_rates_leads_and_invalid_samples(tmp_path):
    values = np.round(200 * np.sin(2 * np.pi * 5 * np.arange(9000) / 100)).astype(int)
    values[500:700] = -(1 << 15)
    write_record(tmp_path / "mine", "r", ["r.dat 16 200 16 0 0 0 0 I"], 9000,
                 {"r.dat": encode(16, values)})  # fmt: skip
    (tmp_path / "mine" / "r.atr").write_bytes(annotation_bytes([(10, "+", "(N"), (20, "N", "")]))
    found = LabelledChunks(["af_burden/mine/r"], data=tmp_path, seconds=10, fs=250, leads=3)
    assert len(found) == 9
    first, second = found[0], found[1]
    assert first["waveform"].shape == (3, 2500)
    assert first["valid"].sum(dim=1).tolist() == [2000, 0, 0]
    assert not first["valid"][0, 1250:1750].any()
    assert (first["waveform"][~first["valid"]] == 0).all()
    expected = np.sin(2 * np.pi * 5 * np.arange(2500) / 250)
    assert np.abs(second["waveform"][0].numpy() - expected)[100:-100].max() < 0.03


def test_what_cannot_be_loaded_is_one_sentence(synth_data, tmp_path):
    write_record(tmp_path / "mine", "r", ["r.dat 16"], 9000)
    (tmp_path / "mine" / "r.atr").write_bytes(annotation_bytes([(10, "+", "(N"), (20, "N", "")]))
    with pytest.raises(ConfigError, match="has no waveform here: fetch"):
        LabelledChunks(["af_burden/mine/r"], data=tmp_path)
    with pytest.raises(ConfigError, match="no instance to load"):
        LabelledChunks([])
    with pytest.raises(DataError, match="is not in"):
        LabelledChunks(["af_burden/mine/x"], data=tmp_path)
    with pytest.raises(ConfigError, match="content is"):
        LabelledChunks(IDS, data=synth_data, content="pixels")
    with pytest.raises(ConfigError, match="on the train side of the splits"):
        LabelledChunks(IDS, data=synth_data, side="test")
    for make in (
        lambda: Rollouts(WANDERER, IDS, data=synth_data, side="test"),
        lambda: Prompts(IDS, prompt, data=synth_data, side="test"),
    ):
        with pytest.raises(ConfigError, match="here only test patients go"):
            make()


def test_prompts_are_a_row_for_each_tier(synth_data):
    found = Prompts(IDS, prompt, data=synth_data, dx=[None, "signal"], seed=3)
    rows = [found[index] for index in range(len(found))]
    assert [(row["instance"], row["dx"]) for row in rows] == [
        (name, dx) for name in IDS for dx in ("none", "signal")
    ]
    assert rows[1]["prompt"][0] == {"role": "system", "content": "episode_detection, signal"}
    assert len({row["seed"] for row in rows}) == 4
    spawned = list(loader(found, 2, "fork", batch_size=None))
    assert spawned == rows == [pickle.loads(pickle.dumps(found))[index] for index in range(4)]
    with pytest.raises(ConfigError, match="There is no dx tier"):
        Prompts(IDS, prompt, data=synth_data, dx=["x-ray"])


def test_an_episode_tells_everything(rollouts, synth_data):
    one = next(iter(rollouts))
    assert set(one) == {
        "instance", "rollout", "dx", "seed", "score", "reward", "reward_terms", "ledger", "ended",
        "error", "final", "steps",
    }  # fmt: skip
    assert [step["action"]["name"] for step in one["steps"]] == ["skim", "write"] * 3 + ["finish"]
    assert one["ended"] == "finish"
    assert one["steps"][0]["text"].startswith("episode_detection: cursor 0 s of 900 s")
    assert one["reward"] == pytest.approx(sum(step["reward"] for step in one["steps"]))
    assert one["reward"] == pytest.approx(sum(one["reward_terms"].values()))
    assert len(one["ledger"]) == 3
    truth = ecgscroll.get_instance(IDS[0], synth_data)
    assert one["score"] == ecgscroll.verify(truth, one["ledger"]).value
    json.dumps(one, allow_nan=False)


def test_every_rollout_and_epoch_has_its_own_seed(synth_data):
    made = Rollouts(WANDERER, IDS[:1], data=synth_data, rollouts=3)
    first = list(made)
    assert len({json.dumps(one["steps"]) for one in first}) == 3
    made.set_epoch(1)
    assert not {one["seed"] for one in made} & {one["seed"] for one in first}
    made.set_epoch(0)
    assert list(made) == first


def test_an_agent_that_fails_ends_its_episode_alone(synth_data):
    found = list(Rollouts("loaders_fakes:Raises", IDS, data=synth_data))
    assert [one["ended"] for one in found] == ["error", "error"]
    assert found[0]["error"] == "ValueError at step 3: no idea"
    assert found[0]["score"] is None
    assert len(found[0]["steps"]) == 2


def test_ranks_share_the_episodes(rollouts, synth_data):
    parts = [
        Rollouts(WANDERER, IDS, data=synth_data, rollouts=3, seed=7, rank=rank, world_size=4)
        for rank in range(4)
    ]
    found = [one for part in parts for one in loader(part, 2, "fork", batch_size=None)]
    assert [len(part) for part in parts] == [2, 2, 1, 1]
    assert as_text(found) == as_text(rollouts)
    for wrong in ({"rank": 0}, {"rank": 2, "world_size": 2}, {"rank": -1, "world_size": 2}):
        with pytest.raises(ConfigError, match="give both, rank the smaller"):
            Rollouts(WANDERER, IDS, data=synth_data, **wrong)


def test_the_rank_is_what_torch_distributed_says(synth_data, tmp_path):
    """Also in workers, which know of no process group when they are spawned."""
    made = Rollouts(WANDERER, IDS, data=synth_data)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1
    )
    try:
        assert len(made) == 2
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.distributed, "get_rank", lambda: 1)
            patch.setattr(torch.distributed, "get_world_size", lambda: 2)
            own = pickle.loads(pickle.dumps(made))
            assert [one["instance"] for one in made] == [IDS[1]]
            assert len(list(loader(made, 1, "fork", batch_size=None))) == 1
    finally:
        torch.distributed.destroy_process_group()
    assert [one["instance"] for one in own] == [IDS[1]]
    assert len(made) == 2


def test_there_must_be_such_a_policy(synth_data):
    with pytest.raises(ConfigError, match="There is no policy 'nobody'"):
        Rollouts("nobody", IDS, data=synth_data)
    with pytest.raises(ConfigError, match="rollouts is a number of episodes above 0"):
        Rollouts(WANDERER, IDS, data=synth_data, rollouts=0)


def test_a_data_module_over_them(chunks, rollouts, tmp_path):
    pytest.importorskip("lightning")
    module = EpisodeData(chunks, val=chunks, test=rollouts, batch_size=4, seed=5)
    first = [batch["t0"].tolist() for batch in module.train_dataloader()]
    again = EpisodeData(chunks, batch_size=4, seed=5, workers=2, start="fork")
    assert [batch["t0"].tolist() for batch in again.train_dataloader()] == first
    assert [batch["t0"].tolist() for batch in again.train_dataloader()] != first  # a new epoch
    whole = torch.cat([batch["t0"] for batch in module.val_dataloader()])
    assert whole[:3].tolist() == [0.0, 30.0, 60.0]
    with pytest.raises(ConfigError, match="There are no test data"):
        again.test_dataloader()
    with pytest.raises(ConfigError, match="batch_size 1 or more"):
        EpisodeData(chunks, batch_size=0)


def test_a_lightning_trainer_learns_from_them(chunks):
    lightning = pytest.importorskip("lightning")

    class Classifier(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(7500, 1)

        def training_step(self, batch, _):
            logits = self.layer(batch["waveform"][:, 0])[:, 0]
            return torch.nn.functional.binary_cross_entropy_with_logits(
                logits, batch["label"].float()
            )

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    trainer = lightning.Trainer(
        max_steps=2, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Classifier(), EpisodeData(chunks, batch_size=4))
    assert trainer.global_step == 2


def test_every_dataset_becomes_a_hugging_face_one(chunks, rollouts, synth_data, tmp_path):
    pytest.importorskip("datasets")
    found = to_hugging_face(Prompts(IDS, prompt, data=synth_data))
    assert found[0]["prompt"] == prompt(ecgscroll.get_instance(IDS[0], synth_data), None)
    episodes = to_hugging_face(rollouts, limit=2)
    assert len(episodes) == 2
    assert json.loads(episodes[0]["steps"])[0]["action"]["name"] == "skim"
    assert to_hugging_face(chunks, limit=3).with_format("torch")[2]["waveform"].shape == (2, 7500)
    write_trajectories(tmp_path / "t.jsonl", [conversation(2)])
    tokens = Trajectories(tmp_path / "t.jsonl", tokenizer())
    assert to_hugging_face(tokens)[0]["labels"] == tokens[0]["labels"].tolist()
    with pytest.raises(ConfigError, match="no row to convert"):
        to_hugging_face([])


def test_trajectories_under_a_loader(tmp_path):
    write_trajectories(tmp_path / "t.jsonl", [conversation(n) for n in range(1, 7)])
    tok = tokenizer()
    tokens = Trajectories(tmp_path / "t.jsonl", tok)
    collate = PadTokens(tok.pad_token_id)
    serial = list(DataLoader(tokens, batch_size=2, collate_fn=collate))
    found = list(loader(tokens, 2, "fork", batch_size=2, collate_fn=collate))
    assert all(
        torch.equal(a[name], b[name]) for a, b in zip(serial, found, strict=True) for name in a
    )
    assert torch.equal(pickle.loads(pickle.dumps(tokens))[3]["labels"], tokens[3]["labels"])
