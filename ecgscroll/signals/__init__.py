"""Causal signal processing: beats and their features from a stream that ends at the cursor."""

from ecgscroll.signals.beats import Beats
from ecgscroll.signals.cues import cue_value, profile
from ecgscroll.signals.store import Elapsed, FeatureStore

__all__ = ["Beats", "Elapsed", "FeatureStore", "cue_value", "profile"]
