"""Spectra of signals of many lengths, computed in a pool of processes that keep a plan for each length. Modelled on the
caches of FFT libraries in pools that are never renewed.

leaky: every length has a plan of its own, and lengths hardly ever come again.
fixed: signals are padded to one of two lengths.

usage: pool_plans.py leaky|fixed [--tasks N]"""
import argparse
import multiprocessing

import numpy as np

SHORTEST, LONGEST = 3000, 9000
plans = {}


def plan_of(n):
    if n not in plans:
        k = np.arange(n)
        plans[n] = np.exp(-1j * np.pi * (k * k % (2 * n)) / n)  # LEAK
    return plans[n]


def spectrum(job):
    seed, padded = job
    random = np.random.RandomState(seed)
    signal = random.randn(random.randint(SHORTEST, LONGEST))
    if padded:
        signal = np.pad(signal, (0, -len(signal) % (LONGEST // 2)))
    return float(np.abs(np.fft.rfft(signal * plan_of(len(signal)).real)).max())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--tasks", type=int, default=240)
    args = parser.parse_args()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        peaks = pool.map(spectrum, [(i, args.variant == "fixed") for i in range(args.tasks)], chunksize=1)
    print("mean peak %.1f" % np.mean(peaks))


if __name__ == "__main__":
    main()
