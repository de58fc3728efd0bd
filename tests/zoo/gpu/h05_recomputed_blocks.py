"""A language model whose blocks are recomputed in backward, under bfloat16 autocast."""
import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.qkv, self.proj = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, 4, d // 4).transpose(1, 2) for y in self.qkv(self.norm(x)).split(d, dim=2))
        att = torch.softmax(q @ k.transpose(-2, -1) / (d // 4) ** 0.5, dim=-1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(x)


class LM(nn.Module):
    def __init__(self, d=128, vocab=2000, depth=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(depth))
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--steps", type=int, default=60)
    args = ap.parse_args()
    lm = LM().to(args.device)
    opt = torch.optim.AdamW(lm.parameters(), lr=3e-4)
    for _ in range(args.steps):
        ids = torch.randint(0, 2000, (4, 97)).to(args.device)
        with torch.autocast(args.device, dtype=torch.bfloat16):
            logits = lm(ids[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("steps", args.steps)


if __name__ == "__main__":
    main()
