"""Training from a memory-mapped file, as large corpora are read: what was read stays mapped, so the process's RSS
rises through the first epoch by pages that are the file's and that the kernel takes back when it needs them.

usage: healthy_memmap.py [--epochs N]"""
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

N_SAMPLES, CHANNELS, LENGTH, CLASSES, BATCH = 1600, 8, 1024, 4, 32


def write_signals(folder):
    """1600 recordings of 32 KiB, a chunk at a time."""
    rng = np.random.RandomState(0)
    labels = rng.randint(0, CLASSES, N_SAMPLES)
    t = np.arange(LENGTH, dtype=np.float32)
    with open(os.path.join(folder, "signals.f32"), "wb") as file:
        for label in labels:
            wave = np.sin(t * 0.05 * (label + 1) + 6 * rng.rand(CHANNELS, 1).astype(np.float32))
            file.write((wave + 0.8 * rng.rand(CHANNELS, LENGTH)).astype(np.float32).tobytes())
    np.save(os.path.join(folder, "labels.npy"), labels)


class Signals(Dataset):
    def __init__(self, folder):
        self.labels = np.load(os.path.join(folder, "labels.npy"), mmap_mode="r")
        self.signals = np.memmap(os.path.join(folder, "signals.f32"), dtype=np.float32, mode="r",
                                 shape=(len(self.labels), CHANNELS, LENGTH))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(np.array(self.signals[i])), int(self.labels[i])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv1d(CHANNELS, 24, 9, stride=2), torch.nn.ReLU(),
                              torch.nn.Conv1d(24, 16, 9, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool1d(1),
                              torch.nn.Flatten(), torch.nn.Linear(16, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    steps = 0
    with tempfile.TemporaryDirectory() as folder:
        write_signals(folder)
        loader = DataLoader(Signals(folder), batch_size=BATCH, shuffle=True)
        for epoch in range(args.epochs):
            for signals, labels in loader:
                loss = F.cross_entropy(net(signals), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
            print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
