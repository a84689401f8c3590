"""Agents that plug into the environment."""
