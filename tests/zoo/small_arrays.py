"""A search over settings, whose sampler computes with one more observation in each trial: NumPy keeps the freed blocks
of every size that it meets, up to seven of each below 1,024 bytes. That is some hundred bytes a step, and ends. The leak
keeps what the sampler computed.

usage: small_arrays.py [leaky|fixed] [--trials N]"""
import argparse

import numpy as np
import torch


def sample(observations):
    """Weights of so many observations, several times over."""
    tables = [np.arange(8 * observations, dtype=np.uint8) for _ in range(7)]
    weights = [np.ones(observations) / (k + 1.0) for k in range(7)]  # LEAK
    return weights, sum(int(table[-1]) for table in tables)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--trials", type=int, default=100)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Linear(32, 32)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    history, total = [], 0
    for trial in range(args.trials):
        for step in range(20):
            loss = net(torch.randn(8, 32)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if args.variant == "leaky":
                history.append(sample(120)[0])
        total += sample(20 + trial)[1]
    print("trials %d, total %d, %d kept" % (args.trials, total, len(history)))


if __name__ == "__main__":
    main()
