"""Policy gradient on the verifier's reward, in a plain PyTorch loop: ``python pytorch_loop.py``.

A small network reads numbers (`NumericWrapper`) of synthetic recordings with fibrillation that
comes and goes, and learns from the reward alone when to look, where to measure and what to write.
"""

import sys
import tempfile

import torch
from torch.distributions import Categorical

from ecgscroll.environment.env import make
from ecgscroll.environment.wrappers import FEATURES, NumericWrapper
from ecgscroll.loaders import synthetic_instances
from ecgscroll.scoring.rewards import RewardConfig

USED = ((0, 1), (0, 2, 3), (0, 3), (0,))  # parts of an action that each verb reads
REWARD = RewardConfig(score=1.0, progress=1.0, step=0.002, invalid=0.02)


def episode(env, policy, seed):
    """Play one episode; return each step's log-probability, entropy and reward to come; the score."""
    features, info = env.reset(seed=seed)
    log_probs, entropies, rewards, over = [], [], [], False
    while not over:
        parts = policy(torch.from_numpy(features)).split(list(env.action_space.nvec))
        choices = [Categorical(logits=part) for part in parts]
        action = torch.stack([choice.sample() for choice in choices])
        used = USED[int(action[0])]
        log_probs.append(sum(choices[n].log_prob(action[n]) for n in used))
        entropies.append(sum(choices[n].entropy() for n in used))
        features, reward, done, cut, info = env.step(action.numpy())
        rewards.append(reward)
        over = done or cut
    to_come = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    return torch.stack(log_probs), torch.stack(entropies), to_come, info["score"].value


def train(steps=200, group=8, seed=0):
    """Train; print the mean score now and then, and return that of every step."""
    torch.manual_seed(seed)
    folder = tempfile.TemporaryDirectory()
    found = synthetic_instances(folder.name, ["af_burden"], count=6, minutes=30, seed=seed)
    envs = [NumericWrapper(make(one, dx="reference", budget=40, reward=REWARD)) for one in found]
    policy = torch.nn.Sequential(
        torch.nn.Linear(len(FEATURES), 64), torch.nn.Tanh(),
        torch.nn.Linear(64, int(envs[0].action_space.nvec.sum())),
    )  # fmt: skip
    optimizer, scores = torch.optim.Adam(policy.parameters(), lr=3e-3), []
    for step in range(steps):
        played = [episode(envs[step % len(envs)], policy, step) for _ in range(group)]
        log_probs, entropy, to_come = (torch.cat([one[n] for one in played]) for n in range(3))
        better = (to_come - to_come.mean()) / (to_come.std() + 1e-6)
        optimizer.zero_grad()
        (-(better * log_probs) - 0.02 * entropy).mean().backward()
        optimizer.step()
        scores.append(sum(one[3] for one in played) / group)
        if step % 20 == 19:
            print(f"step {step + 1}: mean score {sum(scores[-20:]) / 20:.3f}", flush=True)
    return scores


if __name__ == "__main__":
    train(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
