"""Fits harmonic models to light curves, thousands of objects in a row, numpy only. Some fits don't work out; the
batch must go on, and a report says at the end which failed and why.

leaky: the report has the exceptions themselves, and an exception has its traceback, that has the frames, and those
have the design matrices.
fixed: the report has their text.

usage: b07_light_curves.py leaky|fixed [--objects N]"""
import collections
import sys

import numpy as np

POINTS, HARMONICS, ROUNDS = 520, 16, 8


class FitError(RuntimeError):
    pass


def observe(rng):
    t = np.sort(rng.rand(POINTS) * 40)
    period = 1.5 + 3 * rng.rand()
    mag = np.sin(2 * np.pi * t / period) + 0.4 * np.sin(4 * np.pi * t / period + 1) + 0.2 * rng.randn(POINTS)
    if rng.rand() < 0.3:
        mag = rng.standard_cauchy(POINTS)
    return t, mag, period * (1 + 0.001 * rng.randn())


def design(t, period):
    phase = 2 * np.pi * t[:, None] / period * np.arange(1, HARMONICS + 1)
    return np.concatenate((np.ones((len(t), 1)), np.sin(phase), np.cos(phase)), 1)  # LEAK


def fit(t, mag, period):
    weights = np.ones(len(t))
    for _ in range(ROUNDS):
        a = design(t, period)
        gram = a.T @ (weights[:, None] * a)
        coefficients = np.linalg.solve(gram, a.T @ (weights * mag))
        residual = mag - a @ coefficients
        weights = 1 / (1 + (residual / 0.5) ** 2)
        period *= 1 + 1e-5
    if np.abs(residual).max() > 8:
        raise FitError("residual %.1f" % np.abs(residual).max())
    return coefficients


def run(n, text_only):
    rng = np.random.RandomState(0)
    report = {"amplitudes": 0.0, "failures": []}
    for i in range(n):
        t, mag, period = observe(rng)
        try:
            report["amplitudes"] += np.abs(fit(t, mag, period)[1:]).max()
        except FitError as error:
            report["failures"].append((i, str(error) if text_only else error))  # HELD
    return report


if __name__ == "__main__":
    objects = int(sys.argv[3]) if "--objects" in sys.argv else 1000
    result = run(objects, sys.argv[1] == "fixed")
    kinds = collections.Counter(str(error).split()[0] for _, error in result["failures"])
    print("objects %d, failures %s, amplitudes %.3f" % (objects, dict(kinds), result["amplitudes"]))
