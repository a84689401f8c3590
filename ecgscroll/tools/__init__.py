"""Tools that turn elapsed signal or labels into numbers; `registry` says which tier has which."""
