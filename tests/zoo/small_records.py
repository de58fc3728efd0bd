"""A training that keeps a record of each of its samples, as dicts of strings and numbers: small Python objects, whose
memory comes in arenas that any line may ask for. What a line asked for says nothing of who keeps it. The fix keeps
how many there were.

usage: small_records.py [leaky|fixed] [--steps N]"""
import argparse
import random

import torch

SAMPLES = 24


def describe(step, i, value):
    return {"sample": "%d/%d" % (step, i), "value": value, "scores": [random.random() for _ in range(16)]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=4000)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Linear(32, 32)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    records, n = [], 0
    for step in range(args.steps):
        losses = net(torch.randn(SAMPLES, 32)).pow(2).mean(1)
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        for i, value in enumerate(losses.tolist()):
            record = describe(step, i, value)
            if args.variant == "leaky":
                records.append(record)  # LEAK
            n += len(record)
    print("steps %d, %d records kept of %d fields" % (args.steps, len(records), n))


if __name__ == "__main__":
    main()
