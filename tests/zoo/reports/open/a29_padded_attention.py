"""Self-attention over sentences of different lengths; masks for (lengths of the batch) are made by a cached function."""
import argparse
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F


@functools.lru_cache(maxsize=None)
def attention_mask(lengths):
    m = max(lengths)
    keep = torch.arange(m)[None, :] < torch.tensor(lengths)[:, None]
    causal = torch.ones(m, m, dtype=torch.bool).tril()
    return torch.zeros(len(lengths), m, m).masked_fill(~(keep[:, None, :] & causal), float("-inf"))  # LEAK HELD


@functools.lru_cache(maxsize=64)
def causal_mask(m):
    return torch.ones(m, m, dtype=torch.bool).tril()


def plain_mask(lengths):
    m = max(lengths)
    keep = torch.arange(m)[None, :] < torch.tensor(lengths)[:, None]
    return torch.zeros(len(lengths), m, m).masked_fill(~(keep[:, None, :] & causal_mask(m)), float("-inf"))


class Encoder(nn.Module):
    def __init__(self, mask, vocab=200, d=24):
        super().__init__()
        self.mask = mask
        self.embed = nn.Embedding(vocab, d)
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, vocab)

    def forward(self, tokens, lengths):
        x = self.embed(tokens)
        q, k, v = self.qkv(x).chunk(3, -1)
        att = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self.mask(tuple(lengths))
        return self.out(x + att.softmax(-1) @ v)


def sentences(n, gen):
    for _ in range(n):
        lengths = torch.randint(20, 45, (8,), generator=gen).tolist()
        rows = [torch.randint(1, 200, (n,), generator=gen) for n in lengths]
        yield nn.utils.rnn.pad_sequence(rows, batch_first=True), lengths


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=170)
    ap.add_argument("--mask", choices=("by-lengths", "by-size"), default="by-lengths")
    a = ap.parse_args()
    torch.manual_seed(0)
    net = Encoder(attention_mask if a.mask == "by-lengths" else plain_mask)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for tokens, lengths in sentences(a.steps, torch.Generator().manual_seed(0)):
        logits = net(tokens, lengths)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("steps %d loss %.3f %s" % (a.steps, loss.item(), attention_mask.cache_info()))


if __name__ == "__main__":
    main()
