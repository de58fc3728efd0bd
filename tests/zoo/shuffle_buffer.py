"""A shuffle buffer in the workers of an endless stream, which live for one epoch each. Modelled on buffers of webdataset and of
IterableDataset written by hand.

leaky: a sample is drawn from the buffer and stays in it, so that it holds all that the worker has read.
fixed: a sample that is drawn leaves the buffer, and the next one read takes its place.

usage: shuffle_buffer.py leaky|fixed [--epochs N] [--steps N]"""
import argparse
import itertools
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

BUFFER, BATCH, SIDE, N_CLASSES = 100, 8, 48, 4


class Stream(IterableDataset):
    def __init__(self, drains):
        self.drains = drains

    def read(self):
        info = get_worker_info()
        for i in itertools.count(info.id, info.num_workers):
            image = np.random.RandomState(i).rand(SIDE, SIDE).astype(np.float32)  # LEAK
            image[:, i % N_CLASSES * 12:][:, :12] += 1
            yield image, i % N_CLASSES

    def __iter__(self):
        chance, buffer = random.Random(get_worker_info().id), []
        for sample in self.read():
            buffer.append(sample)
            if len(buffer) < BUFFER:
                continue
            k = chance.randrange(len(buffer))
            if self.drains:
                buffer[k], buffer[-1] = buffer[-1], buffer[k]
                yield buffer.pop()
            else:
                yield buffer[k]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=320)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Stream(args.variant == "fixed"), batch_size=BATCH, num_workers=2)
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(SIDE * SIDE, 32), torch.nn.ReLU(),
                              torch.nn.Linear(32, N_CLASSES))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for images, labels in itertools.islice(loader, args.steps):
            loss = torch.nn.functional.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)


if __name__ == "__main__":
    main()
