"""Serves an encoder from a pool of one thread; each shape that was not met before is captured as a CUDA graph."""
import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))  # LEAK


class Captured:
    def __init__(self, model, shape):
        self.x = torch.zeros(*shape, device="cuda")  # LEAK
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.y = model(self.x)  # LEAK

    def run(self, x):
        self.x[:, :x.shape[1]].copy_(x)
        self.graph.replay()
        return self.y[:, :x.shape[1]].cpu()


class Server:
    def __init__(self, pad, pause):
        self.pad, self.pause = pad, pause
        self.model = Encoder(128).cuda().eval()
        self.graphs = {}

    @torch.no_grad()
    def answer(self, length):
        x = torch.randn(4, length, 128)
        shape = (4, -(-length // self.pad) * self.pad, 128)
        if shape not in self.graphs:
            self.graphs[shape] = Captured(self.model, shape)  # HELD
        time.sleep(self.pause)
        return self.graphs[shape].run(x).sum().item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--requests", type=int, default=60)
    ap.add_argument("--pad", type=int, default=1)
    ap.add_argument("--pause", type=float, default=0.03)
    args = ap.parse_args()
    rng = random.Random(9)
    server = Server(args.pad, args.pause)
    with ThreadPoolExecutor(1) as pool:
        answers = list(pool.map(server.answer, [rng.randint(16, 300) for _ in range(args.requests)]))
    print(len(answers), "answers,", len(server.graphs), "graphs")
