"""PointGroup's voxelisation: for each voxel the points in it, as rows of one array as wide as the fullest voxel.
Modelled on pointgroup_ops.voxelization_idx, whose v2p_map is (voxels, 1 + maxActive): a scene in which the scanner
stood still has a voxel of thousands of points, and the whole batch's map is padded to it.

leaky: the padded map.  fixed: offsets and indices (CSR), as long as there are points.

usage: pointgroup_padding.py leaky|fixed [--epochs N] [--workers N]"""
import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

N_SCENES, BATCH, N_CLASSES, SCALE = 160, 4, 20, 18
EVERY, DENSE = 40, 1500  # one scene in EVERY has DENSE points in one voxel


class ScanNet(Dataset):
    """Made anew at each access."""

    def __len__(self):
        return N_SCENES

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        n = rng.randint(1500, 2500)
        xyz = rng.rand(n, 3).astype(np.float32)
        if i % EVERY == EVERY - 1:
            xyz = np.concatenate([xyz, (0.5 + rng.rand(DENSE, 3) * 0.01).astype(np.float32)])
        rgb = rng.rand(len(xyz), 3).astype(np.float32) * 2 - 1
        return xyz, rgb, np.floor(xyz[:, 0] * N_CLASSES).astype(np.int64)


def voxels_of(locs):
    """Which voxel each point lies in, the points voxel by voxel, and where each voxel's begin."""
    key = locs @ torch.tensor([2 ** 45, 2 ** 30, 2 ** 15, 1])
    _, p2v_map, counts = torch.unique(key, return_inverse=True, return_counts=True)
    order = torch.argsort(p2v_map, stable=True)
    return p2v_map, counts, order, torch.cumsum(counts, 0) - counts


def voxelization_idx(locs):
    """v2p_map: row v holds the number of points of voxel v, then their indices, then zeros."""
    p2v_map, counts, order, starts = voxels_of(locs)
    v2p_map = torch.zeros(len(counts), 1 + int(counts.max()), dtype=torch.int32)  # LEAK
    v2p_map[:, 0] = counts
    of = p2v_map[order]
    v2p_map[of, 1 + torch.arange(len(order)) - starts[of]] = order.int()
    return p2v_map, v2p_map


def mean_by_rows(feats, v2p_map):
    counts = v2p_map[:, 0].clone()
    sums = torch.zeros(len(v2p_map), feats.shape[1])
    for k in range(1, v2p_map.shape[1]):
        rows = torch.nonzero(counts >= k)[:, 0]
        sums.index_add_(0, rows, feats[v2p_map[rows, k].long()])
    return sums / counts[:, None]


def voxelization_csr(locs):
    p2v_map, _, order, starts = voxels_of(locs)
    return p2v_map, (order, starts)


def mean_by_csr(feats, csr):
    return torch.nn.functional.embedding_bag(csr[0], feats, csr[1], mode="mean")


def merge_with(voxelize):
    def train_merge(scenes):
        locs, feats, labels = [], [], []
        for i, (xyz, rgb, label) in enumerate(scenes):
            at = torch.floor(torch.from_numpy(xyz) * SCALE).long()
            locs.append(torch.cat([torch.full((len(at), 1), i), at], 1))
            feats.append(torch.cat([torch.from_numpy(rgb) + torch.randn(3) * 0.1, torch.from_numpy(xyz)], 1))
            labels.append(torch.from_numpy(label))
        p2v_map, v2p_map = voxelize(torch.cat(locs, 0))
        return {"feats": torch.cat(feats, 0), "labels": torch.cat(labels, 0), "p2v_map": p2v_map, "v2p_map": v2p_map}
    return train_merge


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    padded = args.variant == "leaky"
    means = mean_by_rows if padded else mean_by_csr
    loader = DataLoader(ScanNet(), batch_size=BATCH, collate_fn=merge_with(voxelization_idx if padded else
                                                                           voxelization_csr),
                        num_workers=args.workers, shuffle=True, drop_last=True)
    net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16), torch.nn.ReLU(),
                              torch.nn.Linear(16, N_CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for batch in loader:
            scores = net(means(batch["feats"], batch["v2p_map"]))[batch["p2v_map"]]
            loss = torch.nn.functional.cross_entropy(scores, batch["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)


if __name__ == "__main__":
    main()
