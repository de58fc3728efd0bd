"""Keyword spotting on recordings of six sampling rates. The front end makes its tables when it first meets a rate:
cosines and sines of the transform (a dict), the mel filters (an lru_cache); its compression is TorchScript, which
specialises at its first calls. All rates have been met after some thirty steps; nothing grows from then on.

usage: healthy_filter_tables.py [--epochs N]"""
import argparse
import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Sampler

RATES = (8000, 9600, 11025, 12000, 14400, 16000)
CLASSES, MELS, FRAMES, BATCH, PER_EPOCH = 8, 40, 16, 8, 50


@functools.lru_cache(maxsize=None)
def mel_filters(window, rate):
    """Triangles, evenly spaced on the mel scale."""
    top = 2595 * math.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (torch.linspace(0, top, MELS + 2) / 2595) - 1)
    at = torch.linspace(0, rate / 2, window // 2 + 1)[:, None]
    rising, falling = (at - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - at) / (edges[2:] - edges[1:-1])
    return torch.minimum(rising, falling).clamp(min=0)


@torch.jit.script
def compress(power, floor: float):
    return torch.log(power + floor) - torch.log(power.mean() + floor)


class FrontEnd(torch.nn.Module):
    """A mel spectrogram with windows of 32 ms, by matrices that stay once they are made."""

    def __init__(self):
        super().__init__()
        self.tables = {}

    def table(self, window):
        if window not in self.tables:
            angle = 2 * math.pi / window * torch.arange(window)[:, None] * torch.arange(window // 2 + 1)
            hann = torch.hann_window(window)[:, None]
            self.tables[window] = hann * torch.cos(angle), hann * torch.sin(angle)
        return self.tables[window]

    def forward(self, sound, rate):
        window = 8 * (rate * 32 // 8000)
        cosines, sines = self.table(window)
        frames = sound.unfold(1, window, (sound.shape[1] - window) // (FRAMES - 1))[:, :FRAMES]
        power = (frames @ cosines).square() + (frames @ sines).square()
        return compress(power @ mel_filters(window, rate), 1e-3)


class Recordings(Dataset):
    def __len__(self):
        return BATCH * PER_EPOCH

    def __getitem__(self, key):
        i, rate = key
        rng = np.random.RandomState(i)
        label = i % CLASSES
        t = np.arange(rate // 3) / rate
        sound = np.sin(2 * np.pi * (300 + 350 * label) * t + rng.rand()) + 0.5 * rng.randn(len(t))
        return torch.from_numpy(sound.astype(np.float32)), label, rate


class OneRate(Sampler):
    """Batches of one rate each; the rarer the rate, the later it comes up."""

    def __init__(self):
        self.rng = np.random.RandomState(0)

    def __len__(self):
        return PER_EPOCH

    def __iter__(self):
        order = self.rng.permutation(BATCH * PER_EPOCH).reshape(PER_EPOCH, BATCH)
        for step, batch in enumerate(order):
            rate = RATES[min(step // 6, self.rng.randint(len(RATES)))]
            yield [(int(i), rate) for i in batch]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    front = FrontEnd()
    net = torch.nn.Sequential(torch.nn.Conv1d(MELS, 32, 3), torch.nn.ReLU(), torch.nn.AdaptiveMaxPool1d(1),
                              torch.nn.Flatten(), torch.nn.Linear(32, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    loader = DataLoader(Recordings(), batch_sampler=OneRate())
    steps = 0
    for epoch in range(args.epochs):
        for sound, labels, rates in loader:
            with torch.no_grad():
                mels = front(sound, int(rates[0]))
            loss = F.cross_entropy(net(mels.transpose(1, 2)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("epoch %d: loss %.4f, %d tables" % (epoch + 1, loss.item(), len(front.tables)), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
