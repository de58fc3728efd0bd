"""Sparse tensors of another length every step, quantised by a pool of threads. Modelled on MinkowskiEngine's
sparse_quantize and sparse_collate, whose users clear the allocator's cache every 10 steps because every batch has
another number of points: this is the host's side of it. A scan has 1,000 to 160,000 points, its voxels are few, and
only those of the last scenes are kept.

leaky: nothing is kept, but each thread's scratch of ever other sizes widens that thread's own malloc arena up to
its largest scan so far, and small long-lived arrays pin what lies below them: resident memory rises all along.
fixed: one thread, blocks of one size, and arrays for all the voxels there can be, made once.

usage: sparse_batches.py leaky|fixed [--epochs N]"""
import argparse
import queue
import threading
from collections import OrderedDict

import numpy as np
import torch

N_SCENES, BATCH, THREADS, GRID, N_CLASSES, KEPT = 480, 2, 12, 16, 8, 48
LARGEST = 160000


def n_points(scene):
    return int(np.clip(np.random.RandomState(scene).lognormal(np.log(20000), 0.8), 1000, LARGEST))


def read_scan(scene, n):
    """A drive's sweep: as many points as the scanner got back."""
    return np.random.RandomState(scene).random_sample((n, 3))  # LEAK


class Quantizer:
    """sparse_quantize as people write it: one point for each voxel."""

    def __call__(self, scene):
        points = read_scan(scene, n_points(scene)).astype(np.float32)  # LEAK
        coords = np.floor(points * GRID).astype(np.int64)  # LEAK
        key = (coords[:, 0] * GRID + coords[:, 1]) * GRID + coords[:, 2]  # LEAK
        key, first, inverse = np.unique(key, return_index=True, return_inverse=True)  # LEAK
        feats = np.stack([np.bincount(inverse, points[:, k], len(key)) for k in range(3)], 1)
        feats /= np.bincount(inverse, minlength=len(key))[:, None]
        return coords[first], feats.astype(np.float32), key


class ReusingQuantizer:
    """The same, block by block, by counting in arrays that are as large as they will ever be."""

    BLOCK = 8192

    def __init__(self):
        self.sums, self.counts = np.zeros((GRID ** 3, 3)), np.zeros(GRID ** 3)

    def __call__(self, scene):
        self.sums.fill(0)
        self.counts.fill(0)
        scan, left = np.random.RandomState(scene), n_points(scene)
        while left > 0:
            points = scan.random_sample((self.BLOCK, 3))[:left]
            coords = np.floor(points * GRID).astype(np.int64)
            key = (coords[:, 0] * GRID + coords[:, 1]) * GRID + coords[:, 2]
            self.counts += np.bincount(key, minlength=GRID ** 3)
            for k in range(3):
                self.sums[:, k] += np.bincount(key, points[:, k], GRID ** 3)
            left -= self.BLOCK
        key = np.flatnonzero(self.counts)
        feats = self.sums[key] / self.counts[key, None]
        return np.stack([key // GRID ** 2, key // GRID % GRID, key % GRID], 1), feats.astype(np.float32), key


class Loader:
    """Thread t makes batches t, t + n, …, one ahead."""

    def __init__(self, quantizers):
        self.quantizers, self.recent, self.lock = quantizers, OrderedDict(), threading.Lock()

    def remember(self, scene, key):
        """The voxels of the last scenes, for the coordinate manager."""
        with self.lock:
            self.recent[scene] = key
            while len(self.recent) > KEPT:
                self.recent.popitem(last=False)

    def make(self, quantize, scenes):
        coords, feats = [], []
        for i, scene in enumerate(scenes):
            at, feat, key = quantize(int(scene))
            self.remember(int(scene), key)
            coords.append(np.concatenate([np.full((len(at), 1), i), at], 1))
            feats.append(feat)
        return torch.from_numpy(np.concatenate(coords)), torch.from_numpy(np.concatenate(feats))  # LEAK

    def work(self, quantize, batches, out):
        for scenes in batches:
            out.put(self.make(quantize, scenes))

    def batches(self, order):
        batches = order.reshape(-1, BATCH)
        n = len(self.quantizers)
        queues = [queue.Queue(1) for _ in range(n)]
        for t in range(n):
            threading.Thread(target=self.work, args=(self.quantizers[t], batches[t::n], queues[t]), daemon=True).start()
        for k in range(len(batches)):
            yield queues[k % n].get()


class Net(torch.nn.Module):
    """A convolution with stride 2 and back, by sums over coarse voxels."""

    def __init__(self, width=16):
        super().__init__()
        self.fine, self.coarse = torch.nn.Linear(6, width), torch.nn.Linear(width, width)
        self.classes = torch.nn.Linear(width, N_CLASSES)

    def forward(self, coords, feats):
        x = torch.relu(self.fine(torch.cat([feats, coords[:, 1:] / GRID], 1)))
        of = ((coords[:, 0] * GRID + coords[:, 1] // 2) * GRID + coords[:, 2] // 2) * GRID + coords[:, 3] // 2
        voxels, of = torch.unique(of, return_inverse=True)
        down = torch.relu(self.coarse(torch.zeros(len(voxels), x.shape[1]).index_add(0, of, x)))
        return self.classes(x + down[of])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    shuffle = np.random.RandomState(0)
    loader = Loader([Quantizer() for _ in range(THREADS)] if args.variant == "leaky" else [ReusingQuantizer()])
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        for coords, feats in loader.batches(shuffle.permutation(N_SCENES)):
            labels = coords[:, 1:].sum(1) * N_CLASSES // (3 * GRID)
            loss = torch.nn.functional.cross_entropy(net(coords, feats), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)


if __name__ == "__main__":
    main()
