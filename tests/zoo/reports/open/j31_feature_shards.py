"""Extracts features with a frozen network; forty batches are collected, then written as a shard and forgotten."""
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn


class ShardWriter:
    def __init__(self, folder, every):
        self.folder, self.every = folder, every
        self.feats, self.ids, self.shard, self.bytes = [], [], 0, 0

    def add(self, feats, ids):
        self.feats.append(feats)
        self.ids.append(ids)
        if len(self.feats) == self.every:
            self.flush()

    def flush(self):
        if not self.feats:
            return
        path = os.path.join(self.folder, "shard%04d.npz" % self.shard)
        np.savez(path, feats=np.concatenate(self.feats), ids=np.concatenate(self.ids))
        self.bytes += os.path.getsize(path)
        os.unlink(path)
        self.feats, self.ids = [], []
        self.shard += 1


@torch.no_grad()
def extract(net, writer, n):
    g = torch.Generator().manual_seed(1)
    for i in range(n):
        x = torch.randn(8, 3, 48, 48, generator=g)
        f = net(x)
        writer.add(torch.cat([f.amax(1, keepdim=True), f], 1).flatten(1).numpy(), np.arange(8 * i, 8 * i + 8))
        if i % 80 == 79:
            print("batch %d, shards %d" % (i + 1, writer.shard), flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 12, 3, 2)).eval()
    with tempfile.TemporaryDirectory() as tmp:
        w = ShardWriter(tmp, 40)
        extract(net, w, 240)
        w.flush()
        print("%d shards, %.1f MB" % (w.shard, w.bytes / 1e6))
