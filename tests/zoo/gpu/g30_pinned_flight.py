"""A prefetcher of its own: batches are pinned, copied on a side stream, and an event says when the copy is done."""
import argparse
import random

import torch
from torch import nn


class Prefetcher:
    def __init__(self, batches, drain):
        self.batches, self.drain = iter(batches), drain
        self.stream = torch.cuda.Stream()
        self.flights = []

    def __iter__(self):
        for x in self.batches:
            pinned = x.pin_memory()  # LEAK
            with torch.cuda.stream(self.stream):
                there = pinned.to("cuda", non_blocking=True)
                done = torch.cuda.Event()
                done.record(self.stream)
            self.flights.append((pinned, done))  # HELD
            if self.drain and len(self.flights) > 2:
                self.flights.pop(0)[1].synchronize()
            torch.cuda.current_stream().wait_stream(self.stream)
            yield there


def batches(n):
    rng = random.Random(4)
    for _ in range(n):
        yield torch.rand(32 + rng.randint(0, 3), 3000)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=150)
    ap.add_argument("--drain", action="store_true")
    args = ap.parse_args()
    model = nn.Sequential(nn.Linear(3000, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for x in Prefetcher(batches(args.steps), args.drain):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("done", args.steps)
