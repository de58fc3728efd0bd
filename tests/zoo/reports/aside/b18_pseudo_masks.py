"""Semi-supervised segmentation, configured in YAML. After two epochs on labelled pictures the network's own soft masks
of the unlabelled ones, blended with those of the epoch before, become targets.

leaky: the bank keeps them by (epoch, picture).
fixed: by picture.

usage: b18_pseudo_masks.py variant=leaky|fixed [epochs=N]"""
import sys
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F
import yaml

DEFAULTS = """
variant: leaky
epochs: 9
seed: 0
warm_up: 2
classes: 6
labelled: 64
unlabelled: 200
side: 32
batch: 8
lr: 2.0e-3
blend: 0.6
"""


def configure(argv):
    cfg = yaml.safe_load(DEFAULTS)
    for item in argv:
        key, value = item.split("=")
        cfg[key] = yaml.safe_load(value)
    return SimpleNamespace(**cfg)


class MaskBank:
    def __init__(self, cfg):
        self.cfg, self.masks = cfg, {}

    def key(self, epoch, i):
        return (epoch, i) if self.cfg.variant == "leaky" else i

    def put(self, epoch, i, probs):
        before = self.masks.get(self.key(epoch - 1, i))
        blended = probs if before is None else self.cfg.blend * before + (1 - self.cfg.blend) * probs  # LEAK
        self.masks[self.key(epoch, i)] = blended  # HELD
        return blended


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
                                    nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, cfg.classes, 1))

    def forward(self, x):
        return self.layers(x)


def pictures(cfg, n):
    y = torch.randint(cfg.classes, (n, 4, 4)).repeat_interleave(cfg.side // 4, 1).repeat_interleave(cfg.side // 4, 2)
    colours = torch.rand(cfg.classes, 3)
    return colours[y].permute(0, 3, 1, 2) + 0.35 * torch.randn(n, 3, cfg.side, cfg.side), y


def main(cfg):
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    images, truth = pictures(cfg, cfg.labelled + cfg.unlabelled)
    x, y, u = images[:cfg.labelled], truth[:cfg.labelled], images[cfg.labelled:]
    net, bank = Net(cfg), MaskBank(cfg)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        for idx in torch.randperm(cfg.unlabelled).split(cfg.batch):
            pick = torch.randint(cfg.labelled, (cfg.batch,))
            loss = F.cross_entropy(net(x[pick]), y[pick])
            if epoch >= cfg.warm_up:
                logits = net(u[idx])
                probs = logits.detach().softmax(1)
                soft = torch.stack([bank.put(epoch, int(i), p.clone()) for i, p in zip(idx, probs)])
                loss = loss - 0.5 * (soft * logits.log_softmax(1)).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("epochs %d, loss %.4f, bank %d" % (cfg.epochs, loss.item(), len(bank.masks)))


if __name__ == "__main__":
    main(configure(sys.argv[1:]))
