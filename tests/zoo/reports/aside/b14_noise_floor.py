"""Keyword spotting on an endless stream of utterances. The first ten milliseconds of each are silence, from which the
noise floor is estimated.

leaky: the silences are kept in a list until the estimate is due at the end; each is 640 bytes, but a view of its
utterance, of which thus all stays.
fixed: sums are kept.

usage: b14_noise_floor.py leaky|fixed [--steps N]"""
import itertools
import sys

import numpy as np
import torch
import torch.nn as nn

RATE, WORDS, BATCH = 16000, 6, 4


def utterances(seed):
    rng = np.random.RandomState(seed)
    t = np.arange(RATE, dtype=np.float32) / RATE
    for _ in itertools.count():
        word = rng.randint(WORDS)
        wave = np.sin(2 * np.pi * (200 + 150 * word) * t + 6 * rng.rand(), dtype=np.float32)  # LEAK
        wave[:160] = 0
        wave += 0.3 * rng.standard_normal(RATE).astype(np.float32)
        yield wave, word


class ListedFloor:
    def __init__(self):
        self.silences = []

    def take(self, silence):
        self.silences.append(silence)  # HELD

    def estimate(self):
        return float(np.sqrt(np.mean([np.mean(s ** 2) for s in self.silences])))


class SummedFloor:
    def __init__(self):
        self.power, self.n = 0.0, 0

    def take(self, silence):
        self.power += float(np.mean(silence ** 2))
        self.n += 1

    def estimate(self):
        return (self.power / self.n) ** 0.5


def batches(stream, floor):
    while True:
        waves, words = [], []
        for wave, word in itertools.islice(stream, BATCH):
            floor.take(wave[:160])
            waves.append(wave)
            words.append(word)
        yield torch.from_numpy(np.stack(waves)), torch.tensor(words)


def main(variant, steps):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Conv1d(1, 32, 80, stride=8), nn.ReLU(), nn.Conv1d(32, 32, 9, stride=2), nn.ReLU(),
                        nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Linear(128, WORDS))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    floor = ListedFloor() if variant == "leaky" else SummedFloor()
    for waves, words in itertools.islice(batches(utterances(0), floor), steps):
        loss = nn.functional.cross_entropy(net(waves[:, None]), words)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps %d, loss %.4f, floor %.4f" % (steps, loss.item(), floor.estimate()))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[3]) if "--steps" in sys.argv else 360)
