"""Spectral features of a speech corpus in a pool of two processes.

  --pad 0      transform each utterance at its own length
  --pad 4096   pad to a multiple first
"""
import argparse
import multiprocessing as mp

import numpy as np

_PLANS = {}


class Plan:
    def __init__(self, n):
        k = np.arange(n)
        self.window = 0.5 - 0.5 * np.cos(2 * np.pi * k / n)
        self.chirp = np.exp(-1j * np.pi * (k * k % (2 * n)) / n)  # LEAK

    def run(self, x):
        return np.abs(np.fft.rfft(x * self.window * self.chirp.real))


def plan_for(n):
    try:
        return _PLANS[n]
    except KeyError:
        _PLANS[n] = Plan(n)  # HELD
        return _PLANS[n]


def utterance(i):
    r = np.random.RandomState(i)
    n = r.randint(3000, 7000)
    t = np.arange(n) / 8000.0
    return np.sin(2 * np.pi * r.randint(80, 900) * t) + 0.2 * r.randn(n)


def features(job):
    i, pad = job
    x = utterance(i)
    if pad:
        x = np.pad(x, (0, -len(x) % pad))
    spec = plan_for(len(x)).run(x)
    edges = np.linspace(0, len(spec), 41).astype(int)
    return i, np.log1p(np.add.reduceat(spec, edges[:-1]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--pad", type=int, default=0)
    ap.add_argument("--n", type=int, default=360)
    a = ap.parse_args()
    out = np.zeros((a.n, 40), np.float32)
    with mp.get_context("fork").Pool(2) as pool:
        for done, (i, f) in enumerate(pool.imap(features, [(i, a.pad) for i in range(a.n)], chunksize=4), 1):
            out[i] = f
            if done % 120 == 0:
                print("%d/%d" % (done, a.n), flush=True)
    print("feature mean %.4f std %.4f" % (out.mean(), out.std()))


if __name__ == "__main__":
    main()
