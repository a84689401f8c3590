"""The plan as WFDB annotations: beats, rhythm changes, ST episodes and signal quality."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ecgscroll.synth.config import SynthConfig
from ecgscroll.synth.plan import Plan, StEpisode
from ecgscroll.synth.rhythm import VENTRICULAR

_Note = tuple[int, str, str, int]


@dataclass(frozen=True)
class Notes:
    """Annotations in file order.

    Parameters
    ----------
    sample
        Positions, ascending.
    symbol
        Beats are ``N`` and ``V``; ``+`` is a rhythm change, ``s`` an ST note, ``~`` a change of
        signal quality, ``"`` a comment (``PSE``: the beat after a pause).
    aux
        Note beside the symbol: ``(N``, ``(AFIB``, ``(VT``, ``(B``; ``(ST0+``, ``AST0+250`` (in
        microvolts), ``ST0+)``, with the lead's index from 0.
    subtype
        Of ``~`` notes: bit i and bit 4 + i are set while lead i is off.
    """

    sample: NDArray[np.int64]
    symbol: list[str]
    aux: list[str]
    subtype: NDArray[np.int64]


def annotate(config: SynthConfig, plan: Plan) -> Notes:
    """Annotations of a recording; a beat that no lead recorded is not annotated."""
    notes: list[_Note] = [(sample, "+", label, 0) for sample, label in plan.rhythm]
    for episode in plan.st:
        notes += _st_notes(episode)
    for off in plan.lead_off:
        bits = sum(0x11 << lead for lead in off.leads if lead < 4)
        notes.append((off.start, "~", "", bits))
        notes += [(off.stop, "~", "", 0)] if off.stop < config.n_samples else []
    notes += [(after, '"', "PSE", 0) for _, after in plan.pauses]
    seen = _recorded(config, plan)
    symbols = np.where(plan.kind == VENTRICULAR, "V", "N")
    notes += [
        (sample, symbol, "", 0)
        for sample, symbol in zip(plan.sample[seen].tolist(), symbols[seen].tolist(), strict=True)
    ]
    # At one sample, notes come before the beat that they lie on: the sort keeps that order.
    notes.sort(key=lambda note: note[0])
    sample, symbol, aux, subtype = zip(*notes, strict=True)
    return Notes(np.array(sample), list(symbol), list(aux), np.array(subtype))


def _st_notes(episode: StEpisode) -> list[_Note]:
    name = f"ST{episode.lead}{'+' if episode.peak_mv > 0 else '-'}"
    return [
        (episode.start, "s", f"({name}", 0),
        (episode.peak, "s", f"A{name}{round(abs(episode.peak_mv) * 1000)}", 0),
        (episode.stop, "s", f"{name})", 0),
    ]


def _recorded(config: SynthConfig, plan: Plan) -> NDArray[np.bool_]:
    """Which beats at least one lead recorded."""
    seen = np.ones(plan.sample.size, dtype=bool)
    for off in plan.lead_off:
        if len(off.leads) == len(config.leads):
            seen[slice(*np.searchsorted(plan.sample, [off.start, off.stop]))] = False
    return seen


def write_notes(folder: Path, name: str, notes: Notes, fs: int) -> None:
    """Write ``name.atr`` into ``folder``."""
    import wfdb

    wfdb.wrann(
        name,
        "atr",
        notes.sample,
        symbol=notes.symbol,
        aux_note=notes.aux,
        subtype=notes.subtype,
        fs=fs,
        write_dir=str(folder),
    )
