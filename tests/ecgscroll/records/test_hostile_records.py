"""Whole records gone wrong: opened, listed and played, they end in a value or one sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wfdb_files import annotation_bytes, encode, write_record

from ecgscroll.catalogue.instances import get_instance, list_instances
from ecgscroll.errors import EcgScrollError
from ecgscroll.records.recording import Recording

_watched: list[list[str]] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watched:
        _watched[-1].append(str(arguments[0]))


sys.addaudithook(_hook)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """Collect every path that is opened."""
    _watched.append([])
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


NOTES = annotation_bytes(
    [(50, "N", ""), (100, "V", ""), (150, "+", "(AFIB"), (300, "+", "(N"), (400, "s", "(ST0+")]
)


def record(data: Path) -> Path:
    """Write a record of a database without a card."""
    lines = ["r.dat 212 200/mV 11 0 0 0 0 I", "r.dat 212 200/mV 11 0 0 0 0 II"]
    folder = data / "mine"
    write_record(folder, "r", lines, 500, {"r.dat": encode(212, np.arange(1000) % 100)})
    (folder / "r.atr").write_bytes(NOTES)
    return folder


def play(data: Path) -> None:
    """Open the record in every way; only a sentence may come out."""
    list_instances(data, set="supplementary")
    for task in ("af_burden", "pvc_burden", "ischemia", "change_detection"):
        try:
            get_instance(f"{task}/mine/r", data)
        except EcgScrollError as error:
            _check_sentence(str(error))
    try:
        opened = Recording.open(data / "mine", "r")
        window = opened.read(0, min(opened.n_samples, 1000)) if opened.has_signal else None
    except EcgScrollError as error:
        _check_sentence(str(error))
    else:
        assert window is None or window.dtype == np.float32


def _check_sentence(message: str) -> None:
    assert message.endswith((".", "`."))
    assert len(message) < 400
    assert "\n" not in message


def secrets(data: Path) -> None:
    (data.parent / "secret.dat").write_bytes(b"\1\2\3" * 500)
    (data.parent / "secret.hea").write_text("secret 1 100 500\nsecret.dat 212\n")


@pytest.mark.parametrize(
    "header",
    [
        "r 1 100 500\n../../secret.dat 212\n",
        "r 1 100 500\n{root}/secret.dat 212\n",
        "r/1 1 100 500\n../../secret 500\n",
        "r/1 1 100 500\n{root}/secret 500\n",
        "r/2 1 100 500\n../../secret 0\nr 500\n",
        "r/2 1 100 500\n~ 100\n../../secret 400\n",
        "../../secret 1 100 500\nr.dat 212\n",
    ],
)
def test_no_file_outside_the_folder_is_opened(tmp_path, header):
    data = tmp_path / "data"
    folder = record(data)
    secrets(data)
    (folder / "r.hea").write_text(header.format(root=tmp_path))
    with opened_files() as paths:
        play(data)
    assert any("r.hea" in path for path in paths)
    assert not [path for path in paths if "secret" in path]


def test_no_linked_file_outside_the_folder_is_opened(tmp_path):
    data = tmp_path / "data"
    folder = record(data)
    secrets(data)
    for suffix in ("dat", "atr"):
        (folder / f"r.{suffix}").unlink()
        (folder / f"r.{suffix}").symlink_to(tmp_path / "secret.dat")
    with opened_files() as paths:
        play(data)
    assert not [path for path in paths if "secret" in path]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(suffix=st.sampled_from(["hea", "dat", "atr"]), draw=st.data())
def test_any_damage_to_a_record_is_survived(tmp_path_factory, suffix, draw):
    data = tmp_path_factory.mktemp("damage")
    file = record(data) / f"r.{suffix}"
    raw = bytearray(file.read_bytes())
    for _ in range(draw.draw(st.integers(0, 6))):
        raw[draw.draw(st.integers(0, len(raw) - 1))] = draw.draw(st.integers(0, 255))
    cut = draw.draw(st.integers(0, len(raw)))
    file.write_bytes(bytes(raw[:cut]) + draw.draw(st.binary(max_size=20)))
    play(data)


@pytest.mark.parametrize("suffix", ["hea", "dat", "atr"])
@pytest.mark.parametrize("content", [b"", b"\0" * 1000, b"\xff" * 1001, bytes(range(256)) * 8])
def test_file_of_rubbish_is_survived(tmp_path, suffix, content):
    (record(tmp_path) / f"r.{suffix}").write_bytes(content)
    play(tmp_path)


def test_annotations_at_the_edges_of_any_number_are_survived(tmp_path):
    from wfdb_files import END, skip, word

    jumps = (2**31 - 1, -(2**31), -1, 2**30, -(2**30) + 12)
    edges = b"".join(skip(jump) + word(5, 0) for jump in jumps)
    folder = record(tmp_path)
    (folder / "r.atr").write_bytes(edges + END)
    play(tmp_path)
    assert get_instance("pvc_burden/mine/r", tmp_path).truth.events == ((0.1, 0.1),)
