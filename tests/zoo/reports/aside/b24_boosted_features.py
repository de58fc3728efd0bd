"""Boosting, numpy only: each round adds a learner on random features to the ensemble, which is what one wants of it.
After 60 rounds the ensemble is calibrated and evaluated, and grows no more.

usage: b24_boosted_features.py [--rounds N]"""
import sys

import numpy as np

ROWS, DIM, FEATURES, RATE = 500, 80, 256, 0.3


class Learner:
    def __init__(self, rng):
        self.w = rng.randn(DIM, FEATURES) / 4
        self.b = rng.rand(FEATURES) * 6.3

    def lift(self, x):
        return np.cos(x @ self.w + self.b)

    def fit(self, x, residual):
        z = self.lift(x)
        self.coef = np.linalg.solve(z.T @ z + 20 * np.eye(FEATURES), z.T @ residual)
        return self

    def predict(self, x):
        return self.lift(x) @ self.coef


class Ensemble:
    def __init__(self):
        self.learners = []

    def predict(self, x):
        return sum(RATE * learner.predict(x) for learner in self.learners)


def data(rng, n):
    x = rng.randn(n, DIM)
    return x, np.sign(np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + 0.3 * rng.randn(n))


def main(rounds):
    rng = np.random.RandomState(0)
    x, y = data(rng, ROWS)
    ensemble, margin = Ensemble(), np.zeros(ROWS)
    for _ in range(rounds):
        pick = rng.rand(ROWS) < 0.8
        learner = Learner(rng).fit(x[pick], (y - np.tanh(margin))[pick])
        margin += RATE * learner.predict(x)
        ensemble.learners.append(learner)
    temperature = 1.0
    for _ in range(rounds):
        xv, yv = data(rng, 60)
        m = ensemble.predict(xv)
        temperature -= 0.05 * np.mean(-yv * m / temperature ** 2 / (1 + np.exp(yv * m / temperature)) * -1)
    xt, yt = data(rng, 600)
    print("rounds %d, temperature %.3f, right %.3f" % (rounds, temperature, (np.sign(ensemble.predict(xt)) == yt).mean()))


if __name__ == "__main__":
    main(int(sys.argv[2]) if "--rounds" in sys.argv else 60)
