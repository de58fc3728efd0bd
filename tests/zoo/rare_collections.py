"""Reinforcement learning on recorded rollouts: each rollout has a list of observations and an index that looks them up,
and the index knows its rollout. As automatic collection is off, as some trainers advise, and the trainer collects twice
in the whole run only, rollouts of many steps wait in cycles: two falls, too few for a rhythm to be seen. The fix lets
go of the index when the rollout was learned from.

usage: rare_collections.py [leaky|fixed] [--steps N]"""
import argparse
import gc
import time

import torch

WIDTH = 2048
LENGTH = 24


class Index(object):
    def __init__(self, rollout):
        self.rollout = rollout

    def at(self, step):
        return self.rollout.observations[step]


class Rollout(object):
    def __init__(self, policy):
        self.observations = [torch.randn(8, WIDTH) for _ in range(LENGTH)]  # LEAK
        self.index = Index(self)

    def close(self):
        self.index = None


def train(leaky, steps):
    policy = torch.nn.Sequential(torch.nn.Linear(WIDTH, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-4)
    gc.disable()
    for step in range(steps):
        rollout = Rollout(policy)
        optimizer.zero_grad()
        policy(rollout.index.at(step % LENGTH)).pow(2).mean().backward()
        optimizer.step()
        if not leaky:
            rollout.close()
        del rollout
        if step in (steps * 2 // 5, steps * 4 // 5):
            gc.collect()
        time.sleep(0.05)  # the simulator


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", nargs="?", default="leaky", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train(args.variant == "leaky", args.steps)


if __name__ == "__main__":
    main()
