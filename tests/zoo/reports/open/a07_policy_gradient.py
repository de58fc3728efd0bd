"""REINFORCE on a pole-balancing toy, in the style of the classic example: a policy that stores what it needs."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

parser = argparse.ArgumentParser(description="REINFORCE example")
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--episodes", type=int, default=62)
parser.add_argument("--seed", type=int, default=543)
parser.add_argument("--entropy-log", choices=("steps", "episode"), default="steps")
args = parser.parse_args()


class Pole:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.s.astype(np.float32)

    def step(self, action):
        x, v, a, w = self.s
        force = 10.0 if action else -10.0
        acc = (9.8 * np.sin(a) - np.cos(a) * (force + 0.05 * w * w * np.sin(a)) / 1.1) / (0.5 * (4 / 3 - 0.1 / 1.1))
        xacc = (force - 0.05 * acc * np.cos(a)) / 1.1
        self.s = np.array([x + 0.02 * v, v + 0.02 * xacc, a + 0.02 * w, w + 0.02 * acc])
        self.t += 1
        return self.s.astype(np.float32), 1.0, bool(abs(self.s[2]) > 0.21 or abs(self.s[0]) > 2.4 or self.t >= 60)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 128)
        self.affine2 = nn.Linear(128, 2)
        self.saved_log_probs = []
        self.rewards = []
        self.entropies = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)  # LEAK


env = Pole(args.seed)
torch.manual_seed(args.seed)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    probs = policy(torch.from_numpy(state).unsqueeze(0))
    m = Categorical(probs)  # LEAK
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    policy.entropies.append(m.entropy())  # LEAK HELD
    return action.item()


def finish_episode():
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + args.gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = torch.cat([-lp * R for lp, R in zip(policy.saved_log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    if args.entropy_log == "episode":
        del policy.entropies[:-20]


running = 10.0
for i_episode in range(args.episodes):
    state, done, ep_reward = env.reset(), False, 0
    while not done:
        state, reward, done = env.step(select_action(state))
        policy.rewards.append(reward)
        ep_reward += reward
    running = 0.05 * ep_reward + 0.95 * running
    entropy = sum(e.item() for e in policy.entropies[-20:]) / 20
    finish_episode()
print("episodes %d average %.1f entropy %.3f kept %d" % (args.episodes, running, entropy, len(policy.entropies)))
