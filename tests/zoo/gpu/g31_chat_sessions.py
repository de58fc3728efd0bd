"""Answers chats, token by token; keys and values of a session stay for its next turn."""
import argparse
import random
import time

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, past):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)  # LEAK
        y = nn.functional.softmax(q @ k.transpose(1, 2) / 16, dim=-1) @ v
        return x + self.out(y), (k.contiguous(), v.contiguous())  # LEAK


class Chat:
    def __init__(self, dim, layers, most):
        self.blocks = nn.ModuleList(Block(dim) for _ in range(layers)).cuda().eval()
        self.dim, self.most, self.sessions = dim, most, {}

    def turn(self, session, tokens):
        past = self.sessions.pop(session, [None] * len(self.blocks))
        x = torch.randn(1, tokens, self.dim, device="cuda")
        for i, block in enumerate(self.blocks):
            x, past[i] = block(x, past[i])
        self.sessions[session] = past  # HELD
        while self.most and len(self.sessions) > self.most:
            self.sessions.pop(next(iter(self.sessions)))
        return x.cpu()


@torch.no_grad()
def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--turns", type=int, default=500)
    ap.add_argument("--most", type=int, default=0)
    ap.add_argument("--pause", type=float, default=0.02)
    args = ap.parse_args()
    rng = random.Random(2)
    chat = Chat(256, 3, args.most)
    for n in range(args.turns):
        session = n if rng.random() < 0.7 else rng.randrange(max(0, n - 10), n + 1)
        time.sleep(args.pause)  # until somebody asks
        chat.turn(session, rng.randint(8, 40))
    print("sessions", len(chat.sessions))


if __name__ == "__main__":
    main()
