"""Epochs of 64 batches that take a millisecond each, as a compiled update does. Each batch's gradient is kept, or not.

usage: fast_batches.py (leaky|fixed) [--epochs N]"""
import argparse

import numpy as np

SAMPLES, BATCH, FEATURES = 2048, 32, 256


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    random = np.random.default_rng(0)
    data = random.normal(size=(SAMPLES, FEATURES))
    weights, gradients, steps = np.zeros((FEATURES, 10)), [], 0
    for epoch in range(args.epochs):
        order, total = random.permutation(SAMPLES), 0.0
        for i in range(0, SAMPLES, BATCH):
            x = np.tanh(np.sin(data[order[i:i + BATCH]]).repeat(6, axis=0))
            error = x @ weights - 1
            gradient = x.T @ error
            weights = weights - 1e-5 * gradient
            total += float((error * error).sum())
            steps += 1
            if args.variant == "leaky":
                gradients.append(gradient.copy())  # LEAK
        print("epoch %d: %.1f" % (epoch, total))
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
