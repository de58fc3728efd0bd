"""Captures the decoder of a captioning model into CUDA graphs, one a length, and replays them in scheduled sampling."""
import argparse
import random

import torch
from torch import nn


class GraphedDecoder:
    def __init__(self, module, batch, dim, bucket):
        self.module, self.batch, self.dim, self.bucket = module, batch, dim, bucket
        self.entries = {}
        self.pool = None

    def capture(self, length):
        static_in = torch.zeros(self.batch, length, self.dim, device="cuda")  # LEAK
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), torch.no_grad():
            self.module(static_in)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        shared = self.pool if self.bucket > 1 else None
        with torch.cuda.graph(graph, pool=shared), torch.no_grad():
            static_out = self.module(static_in)  # LEAK
        self.pool = graph.pool()
        return graph, static_in, static_out

    def __call__(self, x):
        length = -(-x.shape[1] // self.bucket) * self.bucket
        if length not in self.entries:
            self.entries[length] = self.capture(length)  # HELD
        graph, static_in, static_out = self.entries[length]
        static_in[:, :x.shape[1]].copy_(x)
        graph.replay()
        return static_out[:, :x.shape[1]]


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        wide = torch.relu(self.up(x))  # LEAK
        return x + self.down(wide)  # LEAK


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--bucket", type=int, default=1)
    args = ap.parse_args()
    rng = random.Random(5)
    dim, batch = 128, 16
    teacher = Decoder(dim).cuda()
    student = Decoder(dim).cuda()
    graphed = GraphedDecoder(teacher, batch, dim, args.bucket)
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    for _ in range(args.steps):
        x = torch.randn(batch, rng.randint(40, 400), dim, device="cuda")
        with torch.no_grad():
            target = graphed(x)
        loss = (student(x) - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("graphs", len(graphed.entries))


if __name__ == "__main__":
    main()
