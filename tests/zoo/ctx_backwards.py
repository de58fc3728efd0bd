"""Point clouds pooled into voxels by an autograd function of one's own, which leaves what its backward needs in
`ctx.for_backwards`, as PointGroup's operators do, its own output with it. The output's grad_fn owns the ctx and
the ctx owns the output: a cycle that outlives the graph until Python's cyclic collector runs, which counts
objects and not the megabytes that hang on them. The fix is ctx.save_for_backward.

usage: ctx_backwards.py [leaky|fixed] [--steps N]"""
import argparse

import torch
import torch.nn.functional as F

POINTS = 3000
CHANNELS = 16
GRIDS = (8, 12, 16, 20)
CLASSES = 4


class PoolKept(torch.autograd.Function):
    """The mean of the points in each voxel."""

    @staticmethod
    def forward(ctx, features, voxel_of_point, counts):
        output = torch.zeros(counts.shape[0], features.shape[1])  # LEAK
        output.index_add_(0, voxel_of_point, features).div_(counts[:, None])
        ctx.for_backwards = (output, voxel_of_point, counts)
        return output

    @staticmethod
    def backward(ctx, d_output):
        output, voxel_of_point, counts = ctx.for_backwards
        assert d_output.shape == output.shape
        return (d_output / counts[:, None])[voxel_of_point], None, None


class PoolSaved(torch.autograd.Function):
    """The same, with what autograd can let go of."""

    @staticmethod
    def forward(ctx, features, voxel_of_point, counts):
        output = torch.zeros(counts.shape[0], features.shape[1])
        output.index_add_(0, voxel_of_point, features).div_(counts[:, None])
        ctx.save_for_backward(voxel_of_point, counts)
        return output

    @staticmethod
    def backward(ctx, d_output):
        voxel_of_point, counts = ctx.saved_tensors
        return (d_output / counts[:, None])[voxel_of_point], None, None


class Backbone(torch.nn.Module):
    """Points to features, pooled at several scales side by side, and back to the points."""

    def __init__(self, pool):
        super().__init__()
        self.pool = pool
        self.embedding = torch.nn.Sequential(torch.nn.Linear(3, CHANNELS), torch.nn.ReLU())
        self.scales = torch.nn.ModuleList(torch.nn.Linear(CHANNELS, CHANNELS) for _ in GRIDS)
        self.head = torch.nn.Linear(CHANNELS, CLASSES)

    def forward(self, points):
        features = self.embedding(points)
        total = features
        for grid, scale in zip(GRIDS, self.scales):
            cell = (points * grid).long().clamp_(0, grid - 1)
            voxel_of_point = (cell[:, 0] * grid + cell[:, 1]) * grid + cell[:, 2]  # LEAK
            counts = torch.bincount(voxel_of_point, minlength=grid ** 3).clamp(min=1).float()  # LEAK
            voxels = self.pool.apply(features, voxel_of_point, counts)
            total = total + torch.relu(scale(voxels))[voxel_of_point]
        return self.head(total)


def scene():
    """Points in a unit cube, labelled by the quadrant they lie in."""
    points = torch.rand(POINTS, 3)
    return points, (points[:, 0] > 0.5).long() * 2 + (points[:, 1] > 0.5).long()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Backbone(PoolKept if args.variant == "leaky" else PoolSaved)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for step in range(args.steps):
        points, labels = scene()
        loss = F.cross_entropy(net(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 100 == 0:
            print("step %d: loss %.4f" % (step + 1, loss.item()), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
