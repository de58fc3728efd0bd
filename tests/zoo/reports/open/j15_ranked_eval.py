"""Two gloo ranks train the same classifier by hand-made gradient averaging and gather the logits of the
validation set every epoch, Lightning-style metric with update/compute/reset."""
import argparse
import os
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

CLASSES, BATCH = 200, 32


class GatheredAccuracy:
    def __init__(self):
        self.logits, self.target = [], []

    def update(self, logits, target):
        every = [torch.empty_like(logits) for _ in range(dist.get_world_size())]  # LEAK
        dist.all_gather(every, logits)
        targets = [torch.empty_like(target) for _ in every]
        dist.all_gather(targets, target)
        self.logits += every  # HELD
        self.target += targets

    def compute(self, last):
        logits, target = torch.cat(self.logits[-last:]), torch.cat(self.target[-last:])
        return (logits.argmax(1) == target).float().mean().item()

    def reset(self):
        self.logits.clear()
        self.target.clear()


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def batches(seed, n, centers):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        y = torch.randint(CLASSES, (BATCH,), generator=g)
        yield centers[y] + 0.3 * torch.randn(BATCH, 64, generator=g), y


def worker(rank, rendezvous, reset):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=2)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    centers = torch.randn(CLASSES, 64)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    metric = GatheredAccuracy()
    for epoch in range(6):
        model.train()
        for x, y in batches(100 * epoch + rank, 30, centers):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            average_gradients(model)
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in batches(9000 + rank, 30, centers):
                metric.update(model(x), y)
        accuracy = metric.compute(60)
        if reset:
            metric.reset()
        if rank == 0:
            print("epoch %d accuracy %.3f" % (epoch, accuracy), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--reset", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(worker, (os.path.join(folder, "store"), args.reset), nprocs=2, start_method="fork")
