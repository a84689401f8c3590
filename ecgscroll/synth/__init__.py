"""Synthetic ambulatory recordings with exact annotations; nothing in them comes from a person."""

from ecgscroll.synth.config import (
    Ectopy,
    Fibrillation,
    Ischemia,
    Noise,
    Sinus,
    SynthConfig,
)
from ecgscroll.synth.database import RecordPlan, default_data, default_records, write_database
from ecgscroll.synth.plan import Plan, StEpisode
from ecgscroll.synth.presets import PRESETS, preset
from ecgscroll.synth.recording import SyntheticRecording, synthesize
from ecgscroll.synth.write import write_record

__all__ = [
    "PRESETS",
    "Ectopy",
    "Fibrillation",
    "Ischemia",
    "Noise",
    "Plan",
    "RecordPlan",
    "Sinus",
    "StEpisode",
    "SynthConfig",
    "SyntheticRecording",
    "default_data",
    "default_records",
    "preset",
    "synthesize",
    "write_database",
    "write_record",
]
