"""PointGroup's ScanNet loader, with scenes of a few thousand points. Modelled on the complaint that its
training wants 32 GB of RAM: Dataset.trainLoader() reads all 1201 scenes with torch.load before the first step.

leaky: every scene lies in a list of the data set, in the trainer, for the whole run.
fixed: the list holds file names; a worker reads a scene when its turn has come.

usage: pointgroup_loader.py leaky|fixed [--epochs N] [--workers N]"""
import argparse
import glob
import os
import tempfile

import numpy as np
import torch
from torch.utils.data import DataLoader

N_SCENES, BATCH, N_CLASSES, SCALE = 160, 4, 20, 50


def write_scenes(root):
    """Files as ScanNet's preparation leaves them: (xyz f32, rgb f32, label f64, instance f64), 40 B a point."""
    rng = np.random.RandomState(0)
    for i in range(N_SCENES):
        n = rng.randint(2000, 4000)
        xyz = (rng.rand(n, 3) * (1, 1, 0.4)).astype(np.float32)
        rgb = (rng.rand(n, 3) * 2 - 1).astype(np.float32)
        label = np.floor(xyz[:, 0] * N_CLASSES).astype(np.float64)
        instance = np.floor(xyz[:, 1] * 8).astype(np.float64)
        torch.save((xyz, rgb, label, instance), os.path.join(root, "scene%04d_00_inst_nostuff.pth" % i))


class Dataset:
    def __init__(self, root, eager):
        self.train_file_names = sorted(glob.glob(os.path.join(root, "*_inst_nostuff.pth")))
        self.train_files = None
        if eager:
            self.train_files = [torch.load(name) for name in self.train_file_names]  # LEAK

    def __len__(self):
        return len(self.train_file_names)

    def __getitem__(self, i):
        return self.train_files[i] if self.train_files else torch.load(self.train_file_names[i])

    def trainLoader(self, workers):
        return DataLoader(self, batch_size=BATCH, collate_fn=self.trainMerge, num_workers=workers, shuffle=True,
                          drop_last=True)

    def dataAugment(self, xyz):
        turn = np.eye(3) + np.random.randn(3, 3) * 0.1
        turn[0][0] *= np.random.randint(0, 2) * 2 - 1
        return np.matmul(xyz, turn).astype(np.float32)

    def trainMerge(self, scenes):
        locs, locs_float, feats, labels, instance_labels, offsets = [], [], [], [], [], [0]
        n_instances = 0
        for i, (xyz_origin, rgb, label, instance_label) in enumerate(scenes):
            xyz_middle = self.dataAugment(xyz_origin)
            xyz = xyz_middle * SCALE
            xyz -= xyz.min(0)
            offsets.append(offsets[-1] + len(xyz))
            locs.append(torch.cat([torch.LongTensor(len(xyz), 1).fill_(i), torch.from_numpy(xyz).long()], 1))
            locs_float.append(torch.from_numpy(xyz_middle))
            feats.append(torch.from_numpy(rgb) + torch.randn(3) * 0.1)
            labels.append(torch.from_numpy(label))
            instance_labels.append(torch.from_numpy(instance_label + n_instances))
            n_instances += int(instance_label.max()) + 1
        locs = torch.cat(locs, 0)
        key = (locs * torch.tensor([2 ** 45, 2 ** 30, 2 ** 15, 1])).sum(1)
        voxels, p2v_map = torch.unique(key, return_inverse=True)
        return {"locs": locs, "locs_float": torch.cat(locs_float, 0), "feats": torch.cat(feats, 0),
                "labels": torch.cat(labels, 0).long(), "instance_labels": torch.cat(instance_labels, 0).long(),
                "p2v_map": p2v_map, "n_voxels": len(voxels), "offsets": torch.tensor(offsets, dtype=torch.int)}


class PointGroup(torch.nn.Module):
    """Points to voxels and back, then a class and an offset to the instance's centre for each point."""

    def __init__(self, width=16):
        super().__init__()
        self.voxel_net = torch.nn.Sequential(torch.nn.Linear(6, width), torch.nn.ReLU(), torch.nn.Linear(width, width))
        self.linear = torch.nn.Linear(width, N_CLASSES)
        self.offset = torch.nn.Linear(width, 3)

    def forward(self, batch):
        points = torch.cat([batch["feats"], batch["locs_float"]], 1)
        sums = torch.zeros(batch["n_voxels"], 6).index_add_(0, batch["p2v_map"], points)
        counts = torch.bincount(batch["p2v_map"], minlength=batch["n_voxels"])
        x = self.voxel_net(sums / counts[:, None])[batch["p2v_map"]]
        return self.linear(x), self.offset(x)


def centres(batch):
    at, which = batch["locs_float"], batch["instance_labels"]
    n = int(which.max()) + 1
    sums = torch.zeros(n, 3).index_add_(0, which, at)
    return (sums / torch.bincount(which, minlength=n).clamp(min=1)[:, None])[which]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    np.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        write_scenes(root)
        dataset = Dataset(root, args.variant == "leaky")
        loader = dataset.trainLoader(args.workers)
        model = PointGroup()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for epoch in range(args.epochs):
            for batch in loader:
                scores, offsets = model(batch)
                loss = torch.nn.functional.cross_entropy(scores, batch["labels"], ignore_index=-100)
                loss = loss + (offsets - (centres(batch) - batch["locs_float"])).abs().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)


if __name__ == "__main__":
    main()
