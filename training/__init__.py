"""Training of planning agents with the verifier as the reward; needs the ``train`` extra."""
