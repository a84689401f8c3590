"""``python -m training.reward_table CONFIG...``: what trivial play earns, beside an agent.

A reward that pays a strategy which looks at nothing more than one that plans teaches the former.
So each shipped reward is tried on the training instances: every trivial strategy, every exploit on
top of each, and the demonstrator. The exit status is 1 if anything trivial earns the most.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from ecgscroll.catalogue.instances import Instance
from ecgscroll.environment.episode import MAX_SKIM_S
from ecgscroll.errors import EcgScrollError
from ecgscroll.evaluation.layout import Grid, print_grids
from ecgscroll.policy import load_policy
from ecgscroll.scoring.exploits import BASES, EXPLOITS
from ecgscroll.scoring.floors import floor_ledgers, oracle_ledger
from ecgscroll.scoring.rewards import TERMS, RewardConfig, Rewards, StepEvent
from ecgscroll.tools.registry import Dx
from training.adapter import tier_of
from training.config import GRPORun, load
from training.data import divide, playable
from training.rewards import Outcome
from training.rollout import Desk

Terms = Mapping[str, float]

_ROUNDING = 1e-9  # of sums of many terms


@dataclass(frozen=True)
class Row:
    """What an agent earns on a task, over its instances: terms and their sum, means."""

    agent: str
    terms: Terms
    trivial: bool

    @property
    def reward(self) -> float:
        """Mean of the sums."""
        return math.fsum(self.terms.values())


def ledger_terms(
    weights: RewardConfig, instance: Instance, entries: Iterable[Any]
) -> dict[str, float]:
    """Return what an agent earns that walks a recording and writes a ledger, nothing else.

    Parameters
    ----------
    weights
        Of the terms.
    instance
        With its truth.
    entries
        In the order of their stamps; as an environment keeps them, or worse.
    """
    rewards, terms = Rewards(weights, instance), dict.fromkeys(TERMS, 0.0)
    events = [StepEvent()] * math.ceil(instance.duration / MAX_SKIM_S)
    events += [StepEvent(entry=entry) for entry in entries]
    for event in [*events, StepEvent(ended=True)]:
        for name, value in rewards.on_step(event).items():
            terms[name] += value
    return terms


def exploit_gain(weights: RewardConfig, instance: Instance) -> tuple[float, str]:
    """Return the most that any exploit adds to the reward of any ledger, and its name.

    The exploits' entries are handed to the reward as if the environment had let them pass; what
    it would not keep (no objects) is left out.
    """
    floors = floor_ledgers(instance)
    bases = {name: floors[name].entries() for name in BASES}
    bases["truth"] = oracle_ledger(instance).entries()
    best = (-math.inf, "-")
    for base, ledger in bases.items():
        before = math.fsum(ledger_terms(weights, instance, ledger).values())
        for name, add in EXPLOITS.items():
            entries = [one for one in add(instance, ledger) if isinstance(one, dict)]
            after = math.fsum(ledger_terms(weights, instance, entries).values())
            best = max(best, (after - before, f"{name} on {base}"))
    return best


def agent_terms(desk: Desk, policy: Any, instance: Instance, dx: Dx) -> dict[str, float]:
    """Return what a policy earns in the environment."""
    env = desk.environment(instance.id, dx)
    obs, info = env.reset(seed=0)
    policy.reset({**info, "sampling_seed": 0})
    terms = dict.fromkeys(TERMS, 0.0)
    while not env.ended:
        obs, _, _, _, info = env.step(policy.act(obs, info))
        for name, value in info["reward_terms"].items():
            terms[name] += value
    return dict(Outcome.of(env, info, terms).terms)


def table(
    weights: RewardConfig,
    instances: Sequence[Instance],
    agents: Mapping[str, tuple[Any, Dx]],
    desk: Desk,
) -> dict[str, list[Row]]:
    """Return the rows of each task: the trivial strategies, then the agents.

    Parameters
    ----------
    weights
        Of the terms.
    instances
        With their truths.
    agents
        Policies and their tiers by name.
    desk
        Opens the environments that the policies play in, under the same weights.
    """
    earned: dict[str, dict[str, list[Terms]]] = {}
    for one in track(instances, "reward table", transient=True, console=Console(stderr=True)):
        task = earned.setdefault(one.task, {})
        for name, ledger in floor_ledgers(one).items():
            task.setdefault(name, []).append(ledger_terms(weights, one, ledger.entries()))
        for name, (policy, dx) in agents.items():
            task.setdefault(name, []).append(agent_terms(desk, policy, one, dx))
    return {
        task: [Row(name, _means(found), name not in agents) for name, found in rows.items()]
        for task, rows in earned.items()
    }


def _means(found: Sequence[Terms]) -> dict[str, float]:
    return {name: math.fsum(one[name] for one in found) / len(found) for name in TERMS}


def best_trivial(rows: Sequence[Row]) -> Row:
    """Return the trivial strategy that earns the most."""
    return max((row for row in rows if row.trivial), key=lambda row: row.reward)


def grid(title: str, rows: Sequence[Row]) -> Grid:
    """Return rows as a table of text, the best first."""
    ordered = sorted(rows, key=lambda row: -row.reward)
    lines = [
        [row.agent, f"{row.reward:.4f}", *(f"{row.terms[name]:.4f}" for name in TERMS)]
        for row in ordered
    ]
    return Grid(title, ["agent", "reward", *TERMS], lines)


def main(
    configs: Annotated[list[Path], typer.Argument(help="Configurations of GRPO.")],
    policy: Annotated[str, typer.Option(help="Agent to stand beside the strategies.")] = "expert",
    limit: Annotated[int | None, typer.Option(min=1, help="Instances of each task.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the databases.")] = None,
) -> None:
    """Print what trivial strategies and an agent earn under each configuration's reward."""
    failed = False
    for path in configs:
        run = load(path, GRPORun)
        about = run.data if data is None else run.data.model_copy(update={"folder": data})
        parts = divide(about, run.seed)
        desk = Desk(parts.folder, run.weights(), budget=run.budget, rewind=run.rewind)
        for tier in about.dx:
            seen = [one for one in parts.train if playable(one, tier_of(tier))]
            instances = _first_of_each(seen, limit)
            agents = {policy: (load_policy(policy), tier_of(tier))}
            for task, rows in table(run.weights(), instances, agents, desk).items():
                own = [one for one in instances if one.task == task]
                title = f"{path.name}, {task}, dx {tier}, {len(own)} training instances"
                print_grids([grid(title, rows)])
                failed |= _judge(rows, run.weights(), own)
    raise typer.Exit(int(failed))


def _judge(rows: Sequence[Row], weights: RewardConfig, instances: Sequence[Instance]) -> bool:
    """Say what must not be: a strategy above an agent, an exploit that pays."""
    console, trivial = Console(soft_wrap=True), best_trivial(rows)
    above = [row.agent for row in rows if not row.trivial and row.reward < trivial.reward]
    for agent in above:
        console.print(f"{trivial.agent} earns more than {agent}.", style="red")
    gain, name = max(exploit_gain(weights, one) for one in instances)
    paid = gain > _ROUNDING
    console.print(
        f"The best of {len(EXPLOITS)} exploits is {name}: {gain:+.6f}.",
        style="red" if paid else None,
    )
    return bool(above) or paid


def _first_of_each(instances: Sequence[Instance], limit: int | None) -> list[Instance]:
    kept: dict[str, list[Instance]] = {}
    for one in instances:
        kept.setdefault(one.task, []).append(one)
    return [one for own in kept.values() for one in own[:limit]]


if __name__ == "__main__":
    try:
        typer.run(main)
    except EcgScrollError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
