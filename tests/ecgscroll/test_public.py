"""The public surface: light to import, loaded at first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ecgscroll


@pytest.mark.parametrize("name", ecgscroll.__all__)
def test_every_public_name_is_there(name):
    assert getattr(ecgscroll, name) is not None
    assert name in dir(ecgscroll)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ecgscroll.nothing


def test_importing_is_light():
    code = (
        "import ecgscroll, sys; ecgscroll.make; heavy = {'torch', 'transformers', 'wfdb', 'pandas',"
        "'matplotlib', 'httpx'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
