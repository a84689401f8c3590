"""A recording up to a cursor: the only way to samples and labels, which refuses what lies after."""
