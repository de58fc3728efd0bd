"""Generates with one CUDA graph for each prompt length, in a loop of batches without any training."""
import argparse
import random

import torch
from torch import nn


def capture(net, length):
    x = torch.zeros(8, length, 256, device="cuda")  # LEAK
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = net(x)  # LEAK
    return graph, x, y


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--prompts", type=int, default=40)
    ap.add_argument("--one", action="store_true")
    args = ap.parse_args()
    rng = random.Random(1)
    net = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).cuda().eval()
    graphs = {}
    lengths = [rng.randint(20, 200) for _ in range(args.prompts)]
    outputs = [0] * len(lengths)

    def answer(i):
        length = 200 if args.one else lengths[i]
        if length not in graphs:
            graphs[length] = capture(net, length)  # HELD
        graph, x, y = graphs[length]
        x[:, :lengths[i]].copy_(torch.randn(8, lengths[i], 256))
        graph.replay()
        outputs[i] = float(y[:, :lengths[i]].cpu().sum())

    list(map(answer, range(len(lengths))))
    print("graphs", len(graphs))


if __name__ == "__main__":
    main()
