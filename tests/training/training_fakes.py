"""Configurations at the smallest scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Calls whose answer is worth something on paf01, and nothing to look up.
CALLS = ["skim 900", "write 110 250", "write 600 800", "finish"]
INSTANCE = "af_burden/synth/paf01"


def sft_values(data: Path, output: Path, **trainer: Any) -> dict[str, Any]:
    """Values of a configuration of SFT on a script, at the smallest scale."""
    return {
        "output": str(output),
        "threads": 1,
        "model": {
            "from_scratch": {
                "architecture": "qwen3",
                "vocabulary": 400,
                "config": {
                    "hidden_size": 64,
                    "intermediate_size": 128,
                    "num_hidden_layers": 2,
                    "num_attention_heads": 4,
                    "num_key_value_heads": 2,
                    "head_dim": 16,
                    "max_position_embeddings": 8192,
                    "tie_word_embeddings": True,
                },
            }
        },
        "agent": {"turns": 8, "max_new_tokens": 48},
        "data": {"folder": str(data), "instances": [INSTANCE], "held_out": 0},
        "demonstrations": {"policy": "script", "options": {"calls": CALLS}, "max_length": 1024},
        "trainer": {
            "max_steps": 60,
            "per_device_train_batch_size": 1,
            "learning_rate": 1e-2,
            "warmup_steps": 5,
            "save_strategy": "no",
            **trainer,
        },
    }


def grpo_values(data: Path, output: Path, model: Path, **trainer: Any) -> dict[str, Any]:
    """Values of a configuration of GRPO that goes on from a model."""
    return {
        "output": str(output),
        "threads": 1,
        "model": {"name": str(model)},
        "agent": {"turns": 8, "max_new_tokens": 48},
        "data": {"folder": str(data), "instances": [INSTANCE], "held_out": 0},
        "reward": {"score": 1.0, "progress": 0.5},
        "trainer": {
            "max_steps": 2,
            "per_device_train_batch_size": 4,
            "num_generations": 4,
            "max_completion_length": 512,
            "learning_rate": 1e-4,
            "save_strategy": "no",
            **trainer,
        },
    }
