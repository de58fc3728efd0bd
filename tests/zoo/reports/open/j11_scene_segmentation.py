"""Tile-wise land-cover segmentation of large scenes; tiles go through a thread pool.

usage: j11_scene_segmentation.py [--scenes N] [--per-scene]"""
import argparse
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import torch
from torch import nn

TILE = 80


class Segmenter:
    def __init__(self, per_scene):
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1)).eval()
        self.pool = ThreadPoolExecutor(max_workers=2)
        self.per_scene = per_scene
        self.jobs = []

    def run_tile(self, bands):
        with torch.no_grad():
            logits = self.net(torch.from_numpy(bands)[None])
            return logits.softmax(1)[0].numpy()  # LEAK

    def scene(self, image):
        h, w = image.shape[1] // TILE, image.shape[2] // TILE
        jobs = []
        for r in range(h):
            for c in range(w):
                tile = np.ascontiguousarray(image[:, r * TILE:(r + 1) * TILE, c * TILE:(c + 1) * TILE])
                jobs.append((r, c, self.pool.submit(self.run_tile, tile)))
        if not self.per_scene:
            self.jobs.extend(jobs)  # HELD
            wait([f for _, _, f in self.jobs])
        labels = np.zeros((h * TILE, w * TILE), np.uint8)
        for r, c, f in jobs:
            labels[r * TILE:(r + 1) * TILE, c * TILE:(c + 1) * TILE] = f.result().argmax(0)
        return np.bincount(labels.ravel(), minlength=3) / labels.size


def load_scene(k):
    r = np.random.RandomState(k)
    return r.rand(4, 3 * TILE, 3 * TILE).astype(np.float32)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--scenes", type=int, default=120)
    p.add_argument("--per-scene", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(1)
    seg = Segmenter(a.per_scene)
    cover = np.zeros(3)
    for k in range(a.scenes):
        cover += seg.scene(load_scene(k))
    seg.pool.shutdown()
    print("cover", np.round(cover / a.scenes, 3).tolist())
