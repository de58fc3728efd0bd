"""Drift monitor of a feature stream: a reservoir sample of rows (full after some forty per cent of the stream),
per-column histograms and a periodic comparison of recent rows against the reservoir."""
from collections import deque
import random

import numpy as np


class Reservoir:
    def __init__(self, capacity, seed=0):
        self.capacity, self.rows, self.seen = capacity, [], 0
        self.random = random.Random(seed)

    def offer(self, row):
        self.seen += 1
        if len(self.rows) < self.capacity:
            self.rows.append(row.copy())
        else:
            k = self.random.randrange(self.seen)
            if k < self.capacity:
                self.rows[k] = row.copy()


class Monitor:
    def __init__(self, columns):
        self.reservoir = Reservoir(24000)
        self.recent = deque(maxlen=6)
        self.edges = np.linspace(-4, 4, 33)
        self.counts = np.zeros((columns, 32), np.int64)
        self.alarms = 0

    def update(self, chunk):
        for row in chunk:
            self.reservoir.offer(row)
        for c in range(chunk.shape[1]):
            self.counts[c] += np.histogram(chunk[:, c], self.edges)[0]
        self.recent.append(chunk)

    def check(self):
        sample = np.stack(self.reservoir.rows[::8])
        recent = np.concatenate(self.recent)
        z = np.abs(sample.mean(0) - recent.mean(0)) / (sample.std(0) / np.sqrt(len(recent)) + 1e-6)
        self.alarms += int((z > 3).sum())


def stream(n, rows, columns):
    rng = np.random.default_rng(8)
    for i in range(n):
        yield rng.normal(0.1 * np.sin(i / 60), 1, (rows, columns)).astype(np.float32)


if __name__ == "__main__":
    m = Monitor(40)
    for i, chunk in enumerate(stream(200, 300, 40), 1):
        m.update(chunk)
        if i % 25 == 0:
            m.check()
    print("rows %d, reservoir %d, alarms %d" % (m.reservoir.seen, len(m.reservoir.rows), m.alarms))
