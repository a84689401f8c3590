"""Policy gradient on the verifier's reward, in a plain PyTorch loop.

A small network reads numbers of synthetic recordings with fibrillation that comes and goes, and
learns from the reward alone when to look, where to measure and what to write.
"""

import tempfile

import torch
from torch.distributions import Categorical

from ecgscroll.environment.env import make
from ecgscroll.environment.wrappers import FEATURES, NumericWrapper
from ecgscroll.loaders import synthetic_instances
from ecgscroll.scoring.rewards import RewardConfig

USED = ((0, 1), (0, 2, 3), (0, 3), (0,))  # parts of an action that each verb reads
REWARD = RewardConfig(score=1.0, progress=1.0, step=0.002, invalid=0.02)


def episode(env: NumericWrapper, policy: torch.nn.Module, seed: int) -> tuple[torch.Tensor, float]:
    """Play; return log-probability, entropy and reward to come of each step (3, n); the score."""
    features, info = env.reset(seed=seed)
    log_probs, entropies, rewards, over = [], [], [], False
    while not over:
        parts = policy(torch.from_numpy(features)).split(list(env.action_space.nvec))
        choices = [Categorical(logits=part) for part in parts]
        action = torch.stack([choice.sample() for choice in choices])
        used = USED[int(action[0])]
        log_probs.append(torch.stack([choices[n].log_prob(action[n]) for n in used]).sum())
        entropies.append(torch.stack([choices[n].entropy() for n in used]).sum())
        features, reward, done, cut, info = env.step(action.numpy())
        rewards.append(reward)
        over = done or cut
    to_come = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    return torch.stack([torch.stack(log_probs), torch.stack(entropies), to_come]), info[
        "score"
    ].value


def train(steps: int = 300, group: int = 8, seed: int = 0) -> list[float]:
    """Train, and return the mean score of every step."""
    torch.manual_seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        found = synthetic_instances(folder, ["af_burden"], count=6, minutes=30, seed=seed)
        envs = [NumericWrapper(make(i, dx="reference", budget=40, reward=REWARD)) for i in found]
        outputs, scores = int(envs[0].action_space.nvec.sum()), list[float]()
        hidden = torch.nn.Linear(len(FEATURES), 64)
        policy = torch.nn.Sequential(hidden, torch.nn.Tanh(), torch.nn.Linear(64, outputs))
        optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
        for step in range(steps):
            played = [episode(envs[step % len(envs)], policy, step) for _ in range(group)]
            log_probs, entropy, to_come = torch.cat([steps for steps, _ in played], dim=1)
            better = to_come - to_come.mean()
            optimizer.zero_grad()
            (-better * log_probs - 0.01 * entropy).mean().backward()
            optimizer.step()
            scores.append(sum(score for _, score in played) / group)
            if step % 20 == 19:
                print(f"step {step + 1}: mean score {sum(scores[-20:]) / 20:.3f}", flush=True)
    return scores


if __name__ == "__main__":
    train()
