"""Two ranks that multiprocessing's spawn starts share a training out: updates are written by hand, there is no
optimizer, and no variable says which rank a process is. Each keeps what it drew, or does not.

usage: spawned_ranks.py (leaky|fixed) [--steps N]"""
import argparse
import multiprocessing

import numpy as np

FEATURES, BATCH, CLASSES = 256, 1024, 10


def train(rank, steps, leaky):
    random = np.random.default_rng(rank)
    weights, seen = np.zeros((FEATURES, CLASSES)), []
    for step in range(steps):
        x = random.normal(size=(BATCH, FEATURES))
        target = random.integers(0, CLASSES, BATCH)
        error = x @ weights
        error[np.arange(BATCH), target] -= 1
        weights = weights - 1e-4 * (x.T @ error)
        if leaky:
            seen.append(error.repeat(3, axis=1))  # LEAK
    print("rank %d: steps %d, %.3f" % (rank, steps, np.abs(weights).sum()), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=800)
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ranks = [context.Process(target=train, args=(rank, args.steps, args.variant == "leaky")) for rank in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
        assert rank.exitcode == 0


if __name__ == "__main__":
    main()
