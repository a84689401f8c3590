"""What the agents' tests share: a tokenizer of sorts, and what servers insist on."""

from __future__ import annotations

import json
import shutil


def quarter(text):
    """Four characters are a token."""
    return -(-len(text) // 4)


def assert_well_formed(messages):
    """What a server insists on: UTF-8, JSON, an answer for each call, no answer without one."""
    json.dumps(messages, ensure_ascii=False, allow_nan=False).encode()
    waiting = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert waiting == []
        for one in message.get("tool_calls", ()):
            assert isinstance(json.loads(one["function"]["arguments"]), dict)
            waiting.append(one["id"])
    assert waiting == []


def play(env, policy, seed=0):
    """Play an episode; return its calls, its observations' infos and whether it finished."""
    obs, info = env.reset(seed=seed)
    policy.reset(info)
    calls, infos = [], []
    while True:
        calls.append(policy.act(obs, info))
        obs, _, terminated, truncated, info = env.step(calls[-1])
        infos.append(info)
        if terminated or truncated:
            return calls, infos, terminated


def write_day(folder, name="day", hours=24):
    """Write a record of annotations alone: steady beats, every other hour in fibrillation."""
    fs, beat = 128, 100
    folder.mkdir(parents=True)
    (folder / f"{name}.hea").write_text(
        f"{name} 1 {fs} {hours * 3600 * fs}\n{name}.dat 16 200/mV 0 0 0 0 0 ECG\n"
    )
    hour = _word(1, beat) * (3600 * fs // beat)
    rhythms = [_word(28, 1) + _word(63, 5) + b"(AFIB\0", _word(28, 1) + _word(63, 2) + b"(N"]
    notes = b"".join(rhythms[n % 2] + hour for n in range(hours))
    (folder / f"{name}.atr").write_bytes(notes + b"\0\0")


def _word(code, value):
    return ((code << 10) | value).to_bytes(2, "little")


def annotations_of(data, folder):
    """Link the real data with mitdb's annotations alone: labels need no waveform, and are fast."""
    for database in ("afdb", "ltafdb", "edb"):
        (folder / database).symlink_to(data / database)
    (folder / "mitdb").mkdir()
    for suffix in ("hea", "atr"):
        for file in (data / "mitdb").glob(f"*.{suffix}"):
            shutil.copy(file, folder / "mitdb")
    return folder


class Seeded:
    """Skims as far as its sampling seed says, then finishes."""

    name = "seeded"

    def reset(self, info):
        far = 10 + info["sampling_seed"] % 100
        self.calls = iter([{"name": "skim", "arguments": {"duration": far}}, {"name": "finish"}])

    def act(self, obs, info):
        return next(self.calls)
