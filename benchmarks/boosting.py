"""Gradient boosting of oblivious trees on a binary target: small, numpy alone, deterministic.

Each tree asks every sample the same few questions, so it is a table of 2 ** depth leaves. Newton
steps on the log odds (Friedman 2001), leaves shrunk by a ridge, a random part of the features per
tree so that no single one carries the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
N_BINS = 32
Tree = tuple[list[tuple[int, int]], Array]


@dataclass(frozen=True)
class Settings:
    trees: int = 80
    depth: int = 4
    rate: float = 0.1
    ridge: float = 3.0
    least: float = 2.0
    columns: float = 0.2
    seed: int = 0


@dataclass(frozen=True)
class Ensemble:
    """Trees of (feature, bin) questions with their leaves; bin edges per feature; log odds."""

    trees: list[Tree]
    edges: list[Array]
    bias: float

    def score(self, x: Array) -> Array:
        """(n,) log odds of (n, F) features."""
        bins = binned(x, self.edges)
        total = np.full(len(x), self.bias)
        for questions, leaves in self.trees:
            total += leaves[leaf_of(bins, questions)]
        return total


def leaf_of(bins: NDArray[np.uint8], questions: list[tuple[int, int]]) -> NDArray[np.intp]:
    leaf = np.zeros(len(bins), dtype=np.intp)
    for feature, bin_ in questions:
        leaf = 2 * leaf + (bins[:, feature] > bin_)
    return leaf


def binned(x: Array, edges: list[Array]) -> NDArray[np.uint8]:
    columns = [np.searchsorted(e, x[:, j], side="left") for j, e in enumerate(edges)]
    return np.asfortranarray(np.stack(columns, axis=1).astype(np.uint8))


def bin_edges(x: Array, target: NDArray[np.bool_]) -> list[Array]:
    """Quantiles of each feature, rounded to what the package stores; the rare class counts more."""
    shares = np.linspace(0, 1, N_BINS)[1:-1]
    both = np.concatenate([x, *[x[target]] * 3])
    return [np.unique(np.round(np.quantile(column, shares), 3)) for column in both.T]


def boost(x: Array, target: NDArray[np.bool_], weight: Array, s: Settings = Settings()) -> Ensemble:
    """Fit the trees."""
    rng = np.random.default_rng(s.seed)
    edges = bin_edges(x, target)
    bins = binned(x, edges)
    bias = float(np.log(weight[target].sum() / weight[~target].sum()))
    score, trees = np.full(len(x), bias), []
    for _ in range(s.trees):
        p = 1 / (1 + np.exp(-score))
        pull, bend = weight * (target - p), weight * np.maximum(p * (1 - p), 1e-6)
        asked = rng.choice(x.shape[1], int(np.ceil(x.shape[1] * s.columns)), replace=False)
        tree = grow(bins, np.sort(asked), pull, bend, s)
        trees.append(tree)
        score = score + tree[1][leaf_of(bins, tree[0])]
    return Ensemble(trees, edges, bias)


def grow(
    bins: NDArray[np.uint8], asked: NDArray[np.intp], pull: Array, bend: Array, s: Settings
) -> Tree:
    """Choose one question after another, each the best over all the leaves so far."""
    node, questions = np.zeros(len(bins), dtype=np.intp), []
    for level in range(s.depth):
        gains = [gain(bins[:, j], node, 2**level, pull, bend, s) for j in asked]
        best, bin_ = np.unravel_index(int(np.argmax(gains)), (len(asked), N_BINS - 1))
        questions.append((int(asked[best]), int(bin_)))
        node = 2 * node + (bins[:, asked[best]] > bin_)
    size = 2**s.depth
    leaves = np.bincount(node, pull, size) / (np.bincount(node, bend, size) + s.ridge)
    return questions, s.rate * leaves


def gain(
    column: NDArray[np.uint8],
    node: NDArray[np.intp],
    nodes: int,
    pull: Array,
    bend: Array,
    s: Settings,
) -> Array:
    """(N_BINS - 1,) worth of a question after each bin."""
    cell = node * N_BINS + column
    shape = (nodes, N_BINS)
    g = np.bincount(cell, pull, nodes * N_BINS).reshape(shape).cumsum(axis=1)
    h = np.bincount(cell, bend, nodes * N_BINS).reshape(shape).cumsum(axis=1)
    left, low = g[:, :-1], h[:, :-1]
    right, high = g[:, -1:] - left, h[:, -1:] - low
    worth = (left**2 / (low + s.ridge) + right**2 / (high + s.ridge)).sum(axis=0)
    worth[(low.sum(axis=0) < s.least) | (high.sum(axis=0) < s.least)] = -1.0
    return np.asarray(worth)
