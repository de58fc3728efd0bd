"""Population-based training in one process: six members train in turn; every round the worst takes the best's weights and
optimizer state by deep copies and changes its learning rate. Copies over copies, six members.

usage: b29_population.py [--rounds N]"""
import copy
import sys

import numpy as np
import torch
import torch.nn as nn

MEMBERS, STEPS, DIM = 6, 8, 160


class Member:
    def __init__(self, lr):
        self.net = nn.Sequential(nn.Linear(DIM, 256), nn.ReLU(), nn.Linear(256, 192), nn.ReLU(), nn.Linear(192, 5))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.score = float("inf")

    def train(self, data):
        total = 0.0
        for x, y in data:
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        self.score = 0.7 * min(self.score, 9.0) + 0.3 * total / len(data)

    def exploit(self, other, rng):
        self.net.load_state_dict(copy.deepcopy(other.net.state_dict()))
        self.optimizer.load_state_dict(copy.deepcopy(other.optimizer.state_dict()))
        for group in self.optimizer.param_groups:
            group["lr"] *= rng.choice((0.8, 1.25))
        self.score = other.score


def main(rounds):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.RandomState(0)
    centres = torch.randn(5, DIM)
    members = [Member(10 ** rng.uniform(-4.5, -2.5)) for _ in range(MEMBERS)]
    rates = []
    for _ in range(rounds):
        for member in members:
            labels = [torch.randint(5, (24,)) for _ in range(STEPS)]
            member.train([(centres[y] + 4 * torch.randn(24, DIM), y) for y in labels])
        members.sort(key=lambda m: m.score)
        members[-1].exploit(members[0], rng)
        rates.append([m.optimizer.param_groups[0]["lr"] for m in members])
    print("rounds %d, best %.4f at lr %.6f" % (rounds, members[0].score, rates[-1][0]))


if __name__ == "__main__":
    main(int(sys.argv[2]) if "--rounds" in sys.argv else 20)
