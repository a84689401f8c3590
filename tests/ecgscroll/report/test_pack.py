from __future__ import annotations

import json
import re

import numpy as np
import pytest
from report_fakes import opened, unwound

from ecgscroll.report.pack import Pack, packed, to_json


@pytest.mark.parametrize(("width", "top"), [("i1", 127), ("i2", 32767), ("i4", 2**31 - 1)])
def test_arrays_come_back_from_one_extreme_to_the_other(width, top):
    values = [0, top, -top - 1, top, 3, 3, -7]
    pack = Pack()
    pack.add([1, 2, 3], "i2")
    reference = pack.add(values, width)
    value, data = opened(pack.close({"array": reference}))
    assert unwound(data, value["array"]).tolist() == values


def test_an_empty_array_comes_back(tmp_path):
    pack = Pack()
    reference = pack.add([], "i4")
    _, data = opened(pack.close(None))
    assert len(unwound(data, reference)) == 0


def test_a_pack_holds_no_character_that_ends_a_script():
    text = packed({"said": "</script><!--\u2028" * 50})
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", text)
    assert opened(text)[0]["said"].startswith("</script><!--\u2028")


def test_the_same_value_gives_the_same_bytes():
    assert packed({"a": [1, 2]}) == packed({"a": [1, 2]})


def test_what_no_browser_reads_becomes_text():
    deep = []
    for _ in range(500):
        deep = [deep]
    held = {"nan": float("nan"), "big": 2**60, "huge": 10**5000, "deep": deep, "half": "\ud800"}
    back = json.loads(to_json(held))
    assert (back["nan"], back["big"], back["half"]) == ("nan", str(2**60), "\ud800")
    assert back["huge"].startswith("0x")
    assert "…" in json.dumps(back["deep"], ensure_ascii=False)


def test_a_text_of_a_megabyte_is_shortened_and_says_so():
    (said,) = json.loads(to_json(["x" * 1_000_000]))
    assert len(said) < 21_000
    assert "980,000 more characters" in said


def test_smooth_signals_take_about_a_byte_a_sample():
    noise = np.random.default_rng(0).normal(0, 6, 50_000)
    wave = 200 * np.sin(np.arange(50_000) / 40) + noise
    pack = Pack()
    pack.add(np.rint(wave), "i2")
    assert len(pack.close(None)) < 1.4 * len(wave)
