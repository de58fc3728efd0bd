"""A batch-size ramp, as large language models have it: 8, 12, 16, ... sequences until half of the steps are over, then 32.
What the activations take rises with it, and stops.

usage: b23_batch_ramp.py [--steps N]"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, DIM, LENGTH = 96, 32, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.attention = nn.MultiheadAttention(DIM, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(), nn.Linear(2 * DIM, DIM))

    def forward(self, x, mask):
        y = self.n1(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, DIM), nn.Parameter(0.02 * torch.randn(LENGTH, DIM))
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(DIM, VOCAB)
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), float("-inf")).triu(1))

    def forward(self, ids):
        x = self.tokens(ids) + self.places
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(x)


def batch_size(step, steps):
    return min(32, 8 + 4 * (step * 12 // steps))


def main(steps):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    corpus = torch.randint(VOCAB, (4096,)).repeat(4)
    net = GPT()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    seen = 0
    for step in range(steps):
        at = torch.randint(len(corpus) - LENGTH - 1, (batch_size(step, steps),))
        ids = torch.stack([corpus[a:a + LENGTH + 1] for a in at])
        loss = F.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += len(ids)
    print("steps %d, sequences %d, loss %.4f" % (steps, seen, loss.item()))


if __name__ == "__main__":
    main(int(sys.argv[2]) if "--steps" in sys.argv else 72)
