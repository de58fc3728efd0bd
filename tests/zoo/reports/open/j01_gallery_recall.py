"""Retrieval evaluation: embed the gallery and the query images, then Recall@1.

usage: j01_gallery_recall.py [--grad {on,off}]"""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(8, 24, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.Conv2d(24, 32, 3, stride=2, padding=1), nn.ReLU())
        self.fc = nn.Linear(32, dim)

    def forward(self, x):
        x = self.body(self.stem(x))
        return F.normalize(self.fc(x.mean(dim=(2, 3))), dim=1)


class PlaceImages:
    """Places 0..n-1, each a colour pattern; split 1 are noisy query shots of the same places."""

    def __init__(self, split, n, batch):
        self.split, self.n, self.batch = split, n, batch

    def __len__(self):
        return self.n // self.batch

    def __iter__(self):
        noise = np.random.RandomState(7 + self.split)
        for first in range(0, self.n, self.batch):
            pics = []
            for place in range(first, first + self.batch):
                base = np.random.RandomState(place).rand(3, 8, 8).repeat(8, 1).repeat(8, 2)
                pics.append(base + 0.05 * noise.randn(3, 64, 64))
            yield torch.from_numpy(np.stack(pics).astype(np.float32)), list(range(first, first + self.batch))


class RecallEvaluator:
    def __init__(self, model):
        self.model = model
        self.descriptors = {}

    def add_split(self, name, images):
        self.descriptors[name] = []
        for pics, places in images:
            desc = self.model(pics)  # LEAK
            self.descriptors[name].append((places, desc))  # HELD

    def recall(self):
        gallery = torch.cat([d.detach() for _, d in self.descriptors["gallery"]])
        ids = np.concatenate([p for p, _ in self.descriptors["gallery"]])
        hit = n = 0
        for places, desc in self.descriptors["query"]:
            nearest = (desc.detach() @ gallery.t()).argmax(1).numpy()
            hit += int((ids[nearest] == np.array(places)).sum())
            n += len(places)
        return hit / n


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--grad", choices=["on", "off"], default="on")
    opt = ap.parse_args()
    torch.manual_seed(3)
    torch.set_num_threads(1)
    net = Backbone().eval()
    evaluator = RecallEvaluator(net)
    torch.set_grad_enabled(opt.grad == "on")
    evaluator.add_split("gallery", PlaceImages(0, 320, 4))
    evaluator.add_split("query", PlaceImages(1, 240, 4))
    print("R@1 %.3f over %d query batches" % (evaluator.recall(), len(evaluator.descriptors["query"])))
