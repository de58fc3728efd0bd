"""PPO with an auxiliary phase (phasic policy gradient): each phase collects rollouts from six worlds and learns from
them, and keeps observations and value targets of all its rollouts for the auxiliary training at its end, after which
the lists are cleared. Memory is a sawtooth on purpose, with a tooth every fifty-four optimizer steps.

usage: healthy_rollouts.py [--phases N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import Categorical

SIDE, WORLDS, HORIZON, ROLLOUTS, MOVES = 24, 6, 24, 8, ((0, 1), (0, -1), (1, 0), (-1, 0))


class Worlds:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.player, self.coin = self.rng.randint(0, 6, (2, WORLDS, 2))

    def observe(self):
        frames = np.zeros((WORLDS, 2, SIDE, SIDE), dtype=np.float32)
        for plane, places in enumerate((self.player, self.coin)):
            for frame, (y, x) in zip(frames, places * (SIDE // 6)):
                frame[plane, y:y + SIDE // 6, x:x + SIDE // 6] = 1
        return torch.from_numpy(frames)

    def step(self, actions):
        self.player = (self.player + np.array(MOVES)[actions]) % 6
        reward = (self.player == self.coin).all(1)
        self.coin[reward] = self.rng.randint(0, 6, (int(reward.sum()), 2))
        return self.observe(), torch.from_numpy(reward.astype(np.float32))


class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(2, 12, 4, stride=4), torch.nn.ReLU(), torch.nn.Flatten(),
                                        torch.nn.Linear(12 * 36, 96), torch.nn.ReLU())
        self.policy, self.value, self.auxiliary = (torch.nn.Linear(96, n) for n in (len(MOVES), 1, 1))

    def forward(self, observations):
        x = self.body(observations)
        return self.policy(x), self.value(x)[:, 0], self.auxiliary(x)[:, 0]


@torch.no_grad()
def collect(agent, worlds, observation):
    rollout = {name: [] for name in ("observations", "actions", "log_probs", "values", "rewards")}
    for _ in range(HORIZON):
        logits, value, _ = agent(observation)
        choice = Categorical(logits=logits)
        action = choice.sample()
        following, reward = worlds.step(action.numpy())
        for name, x in zip(rollout, (observation, action, choice.log_prob(action), value, reward)):
            rollout[name].append(x)
        observation = following
    following_value = agent(observation)[1]
    advantages, running = [], torch.zeros(WORLDS)
    for t in reversed(range(HORIZON)):
        delta = rollout["rewards"][t] + 0.95 * following_value - rollout["values"][t]
        running = delta + 0.95 * 0.9 * running
        advantages.append(running)
        following_value = rollout["values"][t]
    rollout["advantages"] = advantages[::-1]
    return {name: torch.cat(x) for name, x in rollout.items()}, observation


def take_step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def learn(agent, optimizer, rollout):
    advantages = (rollout["advantages"] - rollout["advantages"].mean()) / (rollout["advantages"].std() + 1e-6)
    targets = rollout["values"] + rollout["advantages"]
    order = torch.randperm(len(targets)).chunk(6)
    for i in order:
        logits, values, _ = agent(rollout["observations"][i])
        choice = Categorical(logits=logits)
        ratio = (choice.log_prob(rollout["actions"][i]) - rollout["log_probs"][i]).exp()
        gain = torch.min(ratio * advantages[i], ratio.clamp(0.8, 1.2) * advantages[i]).mean()
        take_step(optimizer, 0.5 * F.mse_loss(values, targets[i]) - gain - 0.01 * choice.entropy().mean())
    return targets


def auxiliary_phase(agent, optimizer, kept):
    observations, targets = torch.cat([o for o, _ in kept]), torch.cat([t for _, t in kept])
    with torch.no_grad():
        old = F.log_softmax(agent(observations)[0], 1)
    for i in torch.randperm(len(targets)).chunk(6):
        logits, values, auxiliary = agent(observations[i])
        stay = F.kl_div(F.log_softmax(logits, 1), old[i], log_target=True, reduction="batchmean")
        take_step(optimizer, F.mse_loss(values, targets[i]) + F.mse_loss(auxiliary, targets[i]) + stay)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--phases", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    worlds, agent = Worlds(0), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
    observation, kept, steps = worlds.observe(), [], 0
    for phase in range(args.phases):
        coins = 0
        for _ in range(ROLLOUTS):
            rollout, observation = collect(agent, worlds, observation)
            kept.append((rollout["observations"], learn(agent, optimizer, rollout)))
            coins += int(rollout["rewards"].sum())
        auxiliary_phase(agent, optimizer, kept)
        kept.clear()
        steps += 6 * (ROLLOUTS + 1)
        print("phase %d: %d coins" % (phase + 1, coins), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
