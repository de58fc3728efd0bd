"""Actor-critic over many short episodes: values of the last fifty episodes stay for a baseline."""
import argparse
import collections

import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.value = nn.Linear(64, 1024), nn.Linear(1024, 1)

    def forward(self, x):
        return self.value(torch.relu(self.trunk(x)))  # LEAK


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--episodes", type=int, default=260)
    ap.add_argument("--values", action="store_true")
    args = ap.parse_args()
    critic, actor = Critic().cuda(), nn.Linear(64, 4).cuda()
    optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    baseline = collections.deque(maxlen=50)
    for episode in range(args.episodes):
        states = torch.randn(40, 64, device="cuda")  # LEAK
        value = critic(states).mean()  # LEAK
        baseline.append(value.item() if args.values else value)  # HELD
        advantage = float(sum(baseline)) / len(baseline)
        loss = -(actor(states).log_softmax(1)[:, 0] * (1.0 + 0 * advantage)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("episodes", args.episodes)


if __name__ == "__main__":
    main()
