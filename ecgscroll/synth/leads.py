"""Lead vectors: what an electrode pair sees of the heart's dipole.

The dipole has three components in mV: x to the left, y to the feet, z to the back. The rows are
those of the transform of Dower GE, Machado HB, Osborne JA, "On deriving the electrocardiogram
from vectorcardiographic leads", Clin Cardiol 1980. An ambulatory MLII sees what lead II sees. The
dipole with Gaussian waves follows Sameni R et al., "Multichannel ECG and noise modeling", EURASIP
J Adv Signal Process 2007.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEAD_VECTORS: dict[str, tuple[float, float, float]] = {
    "MLII": (0.235, 1.066, -0.132),
    "V5": (1.125, 0.127, -0.086),
    "V1": (-0.515, 0.157, -0.917),
    "V2": (0.044, 0.164, -1.387),
    "V4": (1.213, 0.127, -0.601),
    "I": (0.632, -0.235, 0.059),
    "II": (0.235, 1.066, -0.132),
}

# f waves: the right atrium is nearest to V1 and faces lead II; relative to lead II.
FIBRILLATION_GAIN: dict[str, float] = {
    "MLII": 1.0,
    "V5": 0.45,
    "V1": 1.6,
    "V2": 0.9,
    "V4": 0.5,
    "I": 0.5,
    "II": 1.0,
}


def lead_matrix(leads: tuple[str, ...]) -> NDArray[np.float64]:
    """Lead vectors as rows, shape (n_leads, 3)."""
    return np.array([LEAD_VECTORS[lead] for lead in leads])
