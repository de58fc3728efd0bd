"""Q-learning whose transitions go into a list on the device as they are met."""
import argparse
import random

import torch
from torch import nn


class Replay:
    def __init__(self, most):
        self.most, self.items, self.at = most, [], 0

    def push(self, *transition):
        if self.most and len(self.items) >= self.most:
            self.items[self.at % self.most] = transition
            self.at += 1
        else:
            self.items.append(transition)  # HELD

    def sample(self, rng, n):
        return [torch.stack(parts) for parts in zip(*rng.choices(self.items, k=n))]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--most", type=int, default=0)
    args = ap.parse_args()
    rng = random.Random(8)
    net = nn.Sequential(nn.Linear(4 * 42 * 42, 64), nn.ReLU(), nn.Linear(64, 6)).cuda()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-4)
    replay = Replay(args.most)
    state = torch.rand(4 * 42 * 42, device="cuda")
    for step in range(args.steps):
        after = torch.rand(4 * 42 * 42).to("cuda")  # LEAK
        replay.push(state, torch.tensor(rng.randrange(6), device="cuda"), torch.tensor(rng.random(), device="cuda"), after)  # LEAK
        state = after
        s, a, r, t = replay.sample(rng, 32)
        with torch.no_grad():
            target = r + 0.99 * net(t).max(1)[0]
        loss = (net(s).mean(1) - target).pow(2).mean() + 0 * a.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("transitions", len(replay.items))


if __name__ == "__main__":
    main()
