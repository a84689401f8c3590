"""Instances and calls that the environment's tests share."""

from __future__ import annotations

import shutil

PVC = "pvc_burden/synth/ectopy01"
AF = "episode_detection/synth/paf01"


def do(env, name, **arguments):
    """Make one call; return (result, everything that step returned)."""
    outcome = env.step({"name": name, "arguments": arguments})
    return outcome[4]["result"], outcome


def skim(env, duration=60):
    return do(env, "skim", duration=duration)[0]


def lengthen(synth_data, folder):
    """Copy a record whose header promises an hour; the file ends earlier."""
    (folder / "long").mkdir()
    for file in (synth_data / "synth").glob("ischemia01.*"):
        shutil.copy(file, folder / "long" / file.name)
    header = folder / "long" / "ischemia01.hea"
    header.write_text(header.read_text().replace("225000", "900000", 1))
    return "long/ischemia01"
