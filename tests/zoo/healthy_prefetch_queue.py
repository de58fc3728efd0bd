"""A producer thread reads shards from disk, augments them and puts them into a queue that holds eighty batches. It
is faster than training, so the queue fills during the first part of the run and stays full, or nearly so.

usage: healthy_prefetch_queue.py [--steps N]"""
import argparse
import os
import queue
import tempfile
import threading

import numpy as np
import torch
import torch.nn.functional as F

BATCH, SIDE, SHARDS, DEPTH, CLASSES = 12, 48, 12, 80, 4


def write_shards(folder):
    rng = np.random.RandomState(0)
    v, u = np.mgrid[0:SIDE, 0:SIDE] / float(SIDE)
    for i in range(SHARDS):
        labels = rng.randint(0, CLASSES, BATCH)
        waves = [np.sin((6 + 5 * k) * u + 3 * v + rng.rand()) for k in labels]
        images = np.stack(waves)[:, None] + 0.5 * rng.randn(BATCH, 3, SIDE, SIDE)
        np.savez(os.path.join(folder, "shard-%03d.npz" % i), images=images.astype(np.float16), labels=labels)


class Prefetcher:
    def __init__(self, folder, depth):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.queue, self.stopped = queue.Queue(maxsize=depth), threading.Event()
        self.thread = threading.Thread(target=self.produce, daemon=True)
        self.thread.start()

    def produce(self):
        rng = np.random.RandomState(1)
        while not self.stopped.is_set():
            with np.load(self.paths[rng.randint(len(self.paths))]) as shard:
                images, labels = shard["images"].astype(np.float32), shard["labels"]
            if rng.rand() < 0.5:
                images = np.ascontiguousarray(images[..., ::-1])
            batch = torch.from_numpy(images), torch.from_numpy(labels)
            while not self.stopped.is_set():
                try:
                    self.queue.put(batch, timeout=0.1)
                    break
                except queue.Full:
                    pass

    def __iter__(self):
        while True:
            yield self.queue.get()

    def close(self):
        self.stopped.set()
        self.thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 5, stride=2), torch.nn.ReLU(),
                              torch.nn.Conv2d(16, 24, 3, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                              torch.nn.Flatten(), torch.nn.Linear(24, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        prefetcher = Prefetcher(folder, DEPTH)
        for step, (images, labels) in enumerate(prefetcher, 1):
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 50 == 0:
                print("step %d: loss %.4f, %d batches ahead" % (step, loss.item(), prefetcher.queue.qsize()),
                      flush=True)
            if step == args.steps:
                break
        prefetcher.close()
    print("steps %d" % step)


if __name__ == "__main__":
    main()
