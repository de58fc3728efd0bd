"""PointGroup's scenes, read once by every loader worker. Modelled on PointGroup trained with many workers, and on
data sets that open themselves lazily because "it must happen after the fork": with 16 workers, 16 times the data.

leaky: each of four persistent workers reads all the scenes at its first item, and keeps them.
fixed: the scenes are packed into one array, mapped read-only before the fork; all workers share its pages.

usage: pointgroup_workers.py leaky|fixed [--epochs N] [--workers N]"""
import argparse
import os
import tempfile

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

N_SCENES, BATCH, N_CLASSES, SCALE = 160, 4, 20, 20


def write_scenes(root):
    """One file a scene, xyz, rgb and label as f32 columns; and all of them in one array for who wants that."""
    rng = np.random.RandomState(0)
    scenes, names = [], []
    for i in range(N_SCENES):
        scene = rng.rand(rng.randint(3000, 5000), 7).astype(np.float32)
        scene[:, 6] = np.floor(scene[:, 0] * N_CLASSES)
        scenes.append(scene)
        names.append(os.path.join(root, "scene%04d_00.npy" % i))
        np.save(names[-1], scene)
    packed = os.path.join(root, "packed.npy")
    np.save(packed, np.concatenate(scenes))
    return names, packed, np.cumsum([0] + [len(s) for s in scenes])


class Scenes(Dataset):
    """Reads everything once, in the process that uses it."""

    def __init__(self, names):
        self.names, self.scenes = names, None

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        if self.scenes is None:
            self.scenes = [np.load(name) for name in self.names]  # LEAK
        return self.scenes[i]


class PackedScenes(Dataset):
    def __init__(self, packed, starts):
        self.points, self.starts = np.load(packed, mmap_mode="r"), starts

    def __len__(self):
        return len(self.starts) - 1

    def __getitem__(self, i):
        return self.points[self.starts[i]:self.starts[i + 1]]


def train_merge(scenes):
    locs, feats, labels = [], [], []
    for i, scene in enumerate(scenes):
        xyz = scene[:, :3] + np.random.randn(3).astype(np.float32) * 0.1
        at = np.floor((xyz - xyz.min(0)) * SCALE).astype(np.int64)
        locs.append(np.concatenate([np.full((len(at), 1), i), at], 1))
        feats.append(np.concatenate([scene[:, 3:6] + np.random.randn(3).astype(np.float32) * 0.1, xyz], 1))
        labels.append(scene[:, 6].astype(np.int64))
    key = np.concatenate(locs) @ np.array([2 ** 45, 2 ** 30, 2 ** 15, 1])
    _, first, p2v_map = np.unique(key, return_index=True, return_inverse=True)
    return {"feats": torch.from_numpy(np.concatenate(feats)), "labels": torch.from_numpy(np.concatenate(labels)),
            "p2v_map": torch.from_numpy(p2v_map), "n_voxels": len(first)}


class Net(torch.nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.voxels = torch.nn.Sequential(torch.nn.Linear(6, width), torch.nn.ReLU(), torch.nn.Linear(width, width))
        self.classes = torch.nn.Linear(width, N_CLASSES)

    def forward(self, batch):
        sums = torch.zeros(batch["n_voxels"], 6).index_add_(0, batch["p2v_map"], batch["feats"])
        counts = torch.bincount(batch["p2v_map"], minlength=batch["n_voxels"])
        return self.classes(self.voxels(sums / counts[:, None])[batch["p2v_map"]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        names, packed, starts = write_scenes(root)
        dataset = Scenes(names) if args.variant == "leaky" else PackedScenes(packed, starts)
        loader = DataLoader(dataset, batch_size=BATCH, collate_fn=train_merge, num_workers=args.workers, shuffle=True,
                            drop_last=True, persistent_workers=True,
                            worker_init_fn=lambda worker: np.random.seed(worker))
        model = Net()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for epoch in range(args.epochs):
            for batch in loader:
                loss = torch.nn.functional.cross_entropy(model(batch), batch["labels"])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)


if __name__ == "__main__":
    main()
