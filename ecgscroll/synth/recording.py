"""A synthetic recording: its plan (beats, rhythms, episodes) and its samples, rendered on demand.

The plan is drawn whole: some numbers per beat, tens of megabytes for a day. Samples are rendered
in blocks on a fixed grid, each a function of the plan, the seed and its own index alone, so they
do not depend on how they are asked for and a day is written in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth import autonomic, ectopy, fibrillation, ischemia, morphology, noise, rhythm
from ecgscroll.synth.config import SynthConfig
from ecgscroll.synth.leads import FIBRILLATION_GAIN
from ecgscroll.synth.plan import make_plan
from ecgscroll.synth.streams import generator

BLOCK_S = 60
_FLAT_MV = 0.0
# f waves begin just after the last sinus T wave and end before the first sinus P wave.
_ATRIAL_LEAD_S, _ATRIAL_TAIL_S = 0.25, 0.5


class SyntheticRecording:
    """A recording that can be read anywhere.

    Parameters
    ----------
    config
        What it is made of.
    seed
        0 or more; the same configuration and seed give the same samples, always.

    Raises
    ------
    ConfigError
        If the seed is negative or no whole number.
    """

    def __init__(self, config: SynthConfig, seed: int) -> None:
        self.config, self.seed = config, seed
        duration = config.duration_s
        tone = autonomic.draw_autonomic(config.sinus, duration, generator(seed, "autonomic"))
        nominal = fibrillation.draw_episodes(
            config.fibrillation, duration, generator(seed, "episodes")
        )
        basic = rhythm.draw_rhythm(
            tone, config.fibrillation, nominal, duration, generator(seed, "rhythm")
        )
        beats = ectopy.weave(basic, config.ectopy, generator(seed, "ectopy"))
        events = ischemia.draw_episodes(
            config.ischemia, len(config.leads), duration, generator(seed, "ischemia")
        )
        self.plan = make_plan(
            config, beats, events, noise.draw_lead_off(config, generator(seed, "lead off"))
        )
        self._shapes = self._shape(tone, beats)
        self._waves = self._atria()
        self._noise = noise.NoiseSource(config, seed, tone)
        self._block_size = BLOCK_S * config.fs

    def _shape(self, tone: autonomic.Autonomic, beats: ectopy.Beats) -> morphology.BeatShapes:
        config, n_leads = self.config, len(self.config.leads)
        gains = ischemia.position_gains(
            config.ischemia, beats.time, n_leads, config.duration_s, generator(self.seed, "shifts")
        )
        return morphology.shape_beats(
            morphology.draw_heart(config.leads, generator(self.seed, "heart")),
            beats.kind,
            beats.focus,
            self.plan.qt_s,
            gains,
            np.interp(beats.time, tone.time, tone.respiration),
            generator(self.seed, "beats"),
        )

    def _atria(self) -> fibrillation.FibrillatoryWaves:
        fs, end = self.config.fs, self.config.n_samples
        spans = [
            (
                start / fs - (_ATRIAL_LEAD_S if start else 1.0),
                stop / fs - (_ATRIAL_TAIL_S if stop < end else -1.0),
            )
            for start, stop in self.plan.af
        ]
        amplitude = self.config.fibrillation.wave_mv
        return fibrillation.FibrillatoryWaves(spans, amplitude, generator(self.seed, "f waves"))

    def chunks(self, chunk_s: float = 60.0, clean: bool = False) -> Iterator[NDArray[np.float32]]:
        """Samples from start to end in pieces of ``chunk_s`` seconds; see :meth:`read`."""
        size = max(1, round(chunk_s * self.config.fs))
        for start in range(0, self.config.n_samples, size):
            yield self.read(start, min(start + size, self.config.n_samples), clean)

    def read(self, start: int, stop: int, clean: bool = False) -> NDArray[np.float32]:
        """Samples [start, stop), mV, shape (n_leads, stop - start); NaN where invalid.

        ``clean`` leaves out noise and lead-off.
        """
        size = self._block_size
        parts = [
            self._block(block, clean)[:, max(0, start - block * size) : stop - block * size]
            for block in range(start // size, max(start // size, (stop - 1) // size) + 1)
        ]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def _block(self, block: int, clean: bool) -> NDArray[np.float64]:
        start = block * self._block_size
        stop = min(start + self._block_size, self.config.n_samples)
        signal = self._heart(start, stop)
        if not clean:
            signal += self._noise.render(block, start, stop, self._block_size)
            for off in self.plan.lead_off:
                inside = slice(max(off.start - start, 0), max(off.stop - start, 0))
                signal[list(off.leads), inside] = _FLAT_MV if off.flat else np.nan
        return signal

    def _heart(self, start: int, stop: int) -> NDArray[np.float64]:
        """Beats, ST deviation and f waves of samples [start, stop)."""
        fs, plan = self.config.fs, self.plan
        before, after = round(morphology.BEFORE_S * fs), round(morphology.AFTER_S * fs)
        # Padded by a beat at both ends, so that every beat fits whole.
        pad = before + after
        signal = np.zeros((len(self.config.leads), stop - start + 2 * pad))
        chosen = slice(*np.searchsorted(plan.sample, [start - after, stop + before]))
        offsets = np.arange(-before, after + 1) / fs
        drawn = self._shapes.render(chosen, offsets)
        st = plan.st_mv[chosen].astype(np.float64)
        drawn += st[:, :, None] * morphology.st_course(offsets, plan.qt_s[chosen])[:, None, :]
        for first, beat in zip(plan.sample[chosen] - before - start + pad, drawn, strict=True):
            signal[:, first : first + beat.shape[1]] += beat
        signal = signal[:, pad : pad + stop - start]
        waves = self._waves.render(np.arange(start, stop) / fs)
        gains = np.array([FIBRILLATION_GAIN[lead] for lead in self.config.leads])
        return np.asarray(signal + gains[:, None] * waves)


def synthesize(config: SynthConfig, seed: int) -> SyntheticRecording:
    """Plan a recording; its samples are rendered as they are read."""
    return SyntheticRecording(config, seed)
