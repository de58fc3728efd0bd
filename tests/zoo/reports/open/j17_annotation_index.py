"""Detection-like training: a large index of annotations, read by two workers; samples are mosaics of three records.

  --index dicts    a list with a dict for each record
  --index packed   the same in a few numpy arrays"""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RECORDS = 36000


class DictIndex:
    def __init__(self, n):
        r = np.random.RandomState(0)
        counts, boxes = r.randint(1, 5, n), r.rand(5 * n, 4)
        self.records, at = [], 0
        for i in range(n):
            rec = {"id": "img_%07d" % i, "boxes": [tuple(map(float, b)) for b in boxes[at:at + counts[i]]],  # LEAK
                   "labels": [int(v) % 7 for v in range(i, i + counts[i])], "size": (float(i % 97), float(i % 89))}
            self.records.append(rec)  # HELD
            at += counts[i]

    def get(self, i):
        rec = self.records[i]
        return [b for b in rec["boxes"]], [v for v in rec["labels"]]


class PackedIndex:
    def __init__(self, n):
        r = np.random.RandomState(0)
        counts = r.randint(1, 5, n)
        self.boxes = r.rand(5 * n, 4)[:counts.sum()]
        self.ends = np.cumsum(counts)
        self.counts = counts

    def get(self, i):
        e, c = self.ends[i], self.counts[i]
        return self.boxes[e - c:e], (np.arange(i, i + c)) % 7


class Mosaics(Dataset):
    def __init__(self, index, n):
        self.index, self.n = index, n

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        r = np.random.RandomState(k)
        canvas, seen = np.zeros((2, 24, 24), np.float32), np.zeros(7, np.float32)
        for i in r.randint(0, RECORDS, 3):
            boxes, labels = self.index.get(i)
            for b, c in zip(boxes, labels):
                x, y = int(b[0] * 20), int(b[1] * 20)
                canvas[0, y:y + 1 + int(b[3] * 8), x:x + 1 + int(b[2] * 8)] += 1
                canvas[1, y, x] = c
                seen[c] = 1
        return torch.from_numpy(canvas), torch.from_numpy(seen)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--index", choices=["dicts", "packed"], default="dicts")
    a = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    index = {"dicts": DictIndex, "packed": PackedIndex}[a.index](RECORDS)
    loader = DataLoader(Mosaics(index, 1200), batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    net = nn.Sequential(nn.Conv2d(2, 12, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(12 * 11 * 11, 7))
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    for epoch in range(3):
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch, "loss %.4f" % loss.item(), flush=True)


if __name__ == "__main__":
    main()
