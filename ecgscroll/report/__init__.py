"""A run as one self-contained HTML page: scores, episodes, transcripts, and the ECG itself.

Signals are read here after a run has ended, whole and with no cursor: nothing of it reaches an
agent.
"""
