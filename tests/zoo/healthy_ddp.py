"""Two gloo ranks under DistributedDataParallel with buckets of the usual size, a distributed sampler and logs of
numbers, averaged over the ranks once an interval.

usage: healthy_ddp.py [--epochs N]"""
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

WORLD, N_SAMPLES, BATCH, FEATURES, WIDTH, CLASSES, INTERVAL = 2, 1600, 16, 128, 384, 8, 25


class Spectra(Dataset):
    """Noisy peaks at places that depend on the class."""

    def __len__(self):
        return N_SAMPLES

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        label = i % CLASSES
        at = np.arange(FEATURES)
        peaks = sum(np.exp(-0.1 * (at - place - rng.randn()) ** 2) for place in (8 + 14 * label, 120 - 11 * label))
        return torch.from_numpy((peaks + 0.3 * rng.randn(FEATURES)).astype(np.float32)), label


def make():
    return torch.nn.Sequential(torch.nn.Linear(FEATURES, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH),
                               torch.nn.ReLU(), torch.nn.Linear(WIDTH, CLASSES))


def train_rank(rank, rendezvous, epochs):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=WORLD)
    model = DistributedDataParallel(make())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    data = Spectra()
    sampler = DistributedSampler(data, WORLD, rank)
    loader = DataLoader(data, batch_size=BATCH, sampler=sampler, drop_last=True)
    steps, losses = 0, []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            steps += 1
            if steps % INTERVAL == 0:
                mean = torch.tensor(sum(losses) / len(losses))
                dist.all_reduce(mean)
                losses.clear()
                if rank == 0:
                    print("step %d: loss %.4f" % (steps, mean.item() / WORLD), flush=True)
    if rank == 0:
        print("steps %d" % steps)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train_rank, args=(os.path.join(folder, "rendezvous"), args.epochs), nprocs=WORLD)


if __name__ == "__main__":
    main()
