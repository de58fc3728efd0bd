"""Depth on two ranks whose gradients go through one buffer. Modelled on FeatDepth's DistOptimizerHook, that is mmcv's
allreduce_grads(coalesce=True, bucket_size_mb=-1): all gradients of a type are flattened into one tensor every step.

leaky: a buffer as large as all gradients together comes and goes every step.
fixed: bucket_size_mb=1: buffers of at most 1 MiB, one after the other.

usage: featdepth_buckets.py leaky|fixed [--steps N]"""
import argparse
import os
import tempfile
from collections import OrderedDict

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch._utils import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors

WORLD, BATCH, HEIGHT, WIDTH, CHANNELS, BLOCKS = 2, 2, 16, 32, 128, 14


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(CHANNELS, CHANNELS, 3, 1, 1)

    def forward(self, x):
        return x + 0.1 * torch.relu(self.conv(x))


class DepthNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, 4, 1), torch.nn.ReLU(),
                                        torch.nn.Conv2d(32, CHANNELS, 3, 4, 1))
        self.blocks = torch.nn.Sequential(*[Block() for _ in range(BLOCKS)])
        self.head = torch.nn.Conv2d(CHANNELS, 1, 1)

    def forward(self, color):
        return torch.nn.functional.interpolate(self.head(self.blocks(self.stem(color))), scale_factor=16)


def _allreduce_coalesced(tensors, world_size, bucket_size_mb):
    if bucket_size_mb > 0:
        buckets = _take_tensors(tensors, bucket_size_mb * 1024 * 1024)
    else:
        buckets = OrderedDict()
        for tensor in tensors:
            buckets.setdefault(tensor.type(), []).append(tensor)
        buckets = buckets.values()
    for bucket in buckets:
        flat_tensors = _flatten_dense_tensors(bucket)  # LEAK
        dist.all_reduce(flat_tensors)
        flat_tensors.div_(world_size)
        for tensor, synced in zip(bucket, _unflatten_dense_tensors(flat_tensors, bucket)):
            tensor.copy_(synced)


def allreduce_grads(model, coalesce=True, bucket_size_mb=-1):
    grads = [p.grad.data for p in model.parameters() if p.requires_grad and p.grad is not None]
    world_size = dist.get_world_size()
    if coalesce:
        _allreduce_coalesced(grads, world_size, bucket_size_mb)
    else:
        for tensor in grads:
            dist.all_reduce(tensor.div_(world_size))


class DistOptimizerHook:
    def __init__(self, coalesce=True, bucket_size_mb=-1):
        self.coalesce, self.bucket_size_mb = coalesce, bucket_size_mb

    def after_train_iter(self, runner):
        runner.optimizer.zero_grad()
        runner.outputs["loss"].backward()
        allreduce_grads(runner.model, self.coalesce, self.bucket_size_mb)
        runner.optimizer.step()


class Runner:
    def __init__(self, model, optimizer, hooks):
        self.model, self.optimizer, self.hooks = model, optimizer, hooks
        self.outputs = None

    def run_iter(self, color, target):
        loss = torch.nn.functional.l1_loss(self.model(color), target)
        self.outputs = dict(loss=loss, log_vars=dict(loss=loss.item()))
        for hook in self.hooks:
            hook.after_train_iter(self)


def train_rank(rank, rendezvous, variant, steps):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=WORLD)
    model = DepthNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    runner = Runner(model, optimizer, [DistOptimizerHook(bucket_size_mb=-1 if variant == "leaky" else 1)])
    torch.manual_seed(1 + rank)
    for step in range(steps):
        slope = torch.linspace(0, 1, WIDTH).expand(BATCH, 1, HEIGHT, WIDTH) * torch.rand(BATCH, 1, 1, 1)
        runner.run_iter(slope.expand(BATCH, 3, HEIGHT, WIDTH) + 0.05 * torch.randn(BATCH, 3, HEIGHT, WIDTH), slope)
    if rank == 0:
        print("steps %d loss %.4f" % (steps, runner.outputs["log_vars"]["loss"]))
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        mp.spawn(train_rank, (os.path.join(root, "rendezvous"), args.variant, args.steps), nprocs=WORLD)


if __name__ == "__main__":
    main()
