"""A gated convolutional language model with a continuous cache: earlier hidden states of the stream are looked up
when the last token of each segment is predicted."""
import sys
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {"model.d": 128, "cache.window": 0, "cache.weight": 0.1, "data.batch": 8, "data.seg": 16, "data.vocab": 60,
          "train.steps": 120, "train.lr": 2e-3}


def compose(overrides):
    cfg = dict(CONFIG)
    for o in overrides:
        k, v = o.split("=")
        cfg[k] = type(cfg[k])(v)
    tree = {}
    for k, v in cfg.items():
        group, leaf = k.split(".")
        tree.setdefault(group, SimpleNamespace()).__dict__[leaf] = v
    return SimpleNamespace(**tree)


class GatedLM(nn.Module):
    def __init__(self, d, vocab):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.conv = nn.Conv1d(d, 2 * d, 3)
        self.out = nn.Conv1d(d, vocab, 1)

    def forward(self, tokens):
        x = self.emb(tokens).transpose(1, 2)
        h = F.glu(self.conv(F.pad(x, (2, 0))), 1) + x
        return self.out(h), h.transpose(1, 2)


class Cache:
    def __init__(self, cfg, batch, d):
        self.window = cfg.window
        self.keys = torch.zeros(batch, 0, d)
        self.words = torch.zeros(batch, 0, dtype=torch.long)

    def extend(self, h, targets):
        self.keys = torch.cat([self.keys, h.detach()], 1)[:, -self.window:]  # LEAK HELD
        self.words = torch.cat([self.words, targets], 1)[:, -self.window:]

    def lookup(self, h, vocab):
        weights = (self.keys * h[:, None]).sum(-1).softmax(-1)
        return torch.zeros(len(h), vocab).scatter_add(1, self.words, weights)


def main(cfg):
    torch.manual_seed(0)
    d = cfg.data
    stream = torch.randint(d.vocab, (d.batch, cfg.train.steps * d.seg + 1), generator=torch.Generator().manual_seed(1))
    stream[:, 1::2] = (stream[:, :-1:2] * 7 + 3) % d.vocab
    net = GatedLM(cfg.model.d, d.vocab)
    cache = Cache(cfg.cache, d.batch, cfg.model.d)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.train.lr)
    for step in range(cfg.train.steps):
        seg = stream[:, step * d.seg:(step + 1) * d.seg + 1]
        logits, h = net(seg[:, :-1])
        loss = F.cross_entropy(logits, seg[:, 1:])
        if step:
            with torch.no_grad():
                p = cache.lookup(h[:, -1], d.vocab)
            mixed = (1 - cfg.cache.weight) * logits[:, :, -1].softmax(1) + cfg.cache.weight * p
            loss = loss + 0.1 * F.nll_loss(mixed.clamp_min(1e-8).log(), seg[:, -1])
        opt.zero_grad()
        loss.backward()
        opt.step()
        cache.extend(h, seg[:, 1:])
    print("steps %d loss %.3f cache of %d" % (cfg.train.steps, loss.item(), cache.keys.shape[1]))


if __name__ == "__main__":
    main(compose(sys.argv[1:]))
