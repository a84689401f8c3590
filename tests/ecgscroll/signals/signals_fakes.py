"""An ECG of which every wave is known, and a stream over it that refuses the future."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class FakeStream:
    """Satisfies the Elapsed protocol; counts the samples read."""

    x: np.ndarray
    fs: float = 250.0
    elapsed: int = 0
    leads: tuple[str, ...] = ("MLII", "V5")
    read_spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def n_samples(self):
        return self.x.shape[1]

    @property
    def ecg(self):
        return tuple(range(len(self.x)))

    def at(self, seconds):
        self.elapsed = min(self.n_samples, int(seconds * self.fs + 1e-6))
        return self

    def read(self, start, stop):
        assert 0 <= start <= stop <= self.elapsed, "read past the cursor"
        self.read_spans.append((start, stop))
        return self.x[:, start:stop].copy()


def beat_times(duration, rr=0.8, jitter=0.02, seed=0):
    rng = np.random.default_rng(seed)
    gaps = rr + jitter * rng.standard_normal(int(duration / rr) + 5)
    times = 0.5 + np.cumsum(gaps)
    return times[times < duration - 0.5]


def fake_ecg(
    times, duration, fs=250.0, *, wide=(), p_mv=0.15, t_mv=0.3, st_mv=0.0, noise=0.01, seed=0
):
    """Two leads (mV): P 160 ms before R, QRS of about 90 ms, ST level, T 300 ms after R.

    ``wide`` holds indices of beats that are ventricular: no P wave, a QRS twice as wide and
    tall, T the other way.
    """
    t = np.arange(round(duration * fs)) / fs
    x = np.zeros((2, len(t)))
    for i, r in enumerate(times):
        near = np.abs(t - r) < 1.0
        d = t[near] - r
        if i in wide:
            beat = 2.2 * _bell(d, 0.0, 0.035) - 0.9 * _bell(d, 0.10, 0.035)
            beat -= 0.5 * _bell(d, 0.32, 0.06)
        else:
            beat = 1.2 * _bell(d, 0.0, 0.012) - 0.25 * _bell(d, 0.030, 0.010)
            beat -= 0.15 * _bell(d, -0.028, 0.010)
            beat += p_mv * _bell(d, -0.16, 0.020) + t_mv * _bell(d, 0.30, 0.045)
            beat += st_mv * _plateau(d, 0.06, 0.30)
        x[0, near] += beat
        x[1, near] += 0.7 * beat
    x += noise * np.random.default_rng(seed).standard_normal(x.shape)
    return x.astype(np.float32)


def _bell(d, centre, width):
    return np.exp(-0.5 * ((d - centre) / width) ** 2)


def _plateau(d, start, stop):
    return 1 / (1 + np.exp(-(d - start) / 0.005)) / (1 + np.exp((d - stop) / 0.02))


def matched(found, expected, tolerance=0.05):
    """How many of ``expected`` (s) have a found beat within tolerance, and how many are extra."""
    if len(found) == 0:
        return 0, 0
    distance = np.abs(np.subtract.outer(np.asarray(expected), np.asarray(found)))
    hits = int((distance.min(axis=1) <= tolerance).sum())
    return hits, len(found) - hits
