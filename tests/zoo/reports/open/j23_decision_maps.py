"""Trains a random-feature classifier with numpy and saves a picture of the decision boundary after every epoch. The
plotting library (figures registered with a manager until they are closed) is simulated.

python j23_decision_maps.py [--close]"""
import os
import sys
import tempfile
import types

import numpy as np


class Figure:
    def __init__(self, num, figsize, dpi):
        self.number = num
        self.canvas = np.full((int(figsize[1] * dpi), int(figsize[0] * dpi), 4), 255, np.uint8)  # LEAK
        self.artists = []

    def imshow(self, data, extent):
        h, w = self.canvas.shape[:2]
        rows = (np.arange(h) * data.shape[0] // h)[:, None]
        cols = (np.arange(w) * data.shape[1] // w)[None]
        self.canvas[..., 0] = 255 * data[rows, cols]
        self.canvas[..., 2] = 255 - self.canvas[..., 0]

    def scatter(self, x, y):
        h, w = self.canvas.shape[:2]
        self.artists.append((x, y))
        self.canvas[((y + 2) / 4 * (h - 1)).astype(int) % h, ((x + 2) / 4 * (w - 1)).astype(int) % w, :3] = 0

    def savefig(self, path):
        with open(path, "wb") as f:
            f.write(b"P6 %d %d 255\n" % (self.canvas.shape[1], self.canvas.shape[0]))
            f.write(self.canvas[..., :3].tobytes())


class Gcf:
    figs = {}

    @classmethod
    def new(cls, figsize=(6.4, 4.8), dpi=60):
        num = max(cls.figs, default=0) + 1
        fig = cls.figs[num] = Figure(num, figsize, dpi)  # HELD
        return fig

    @classmethod
    def destroy(cls, fig):
        cls.figs.pop(fig.number, None)


plt = types.SimpleNamespace(figure=Gcf.new, close=Gcf.destroy)

rng = np.random.default_rng(3)
angle = rng.uniform(0, 2 * np.pi, 800)
label = rng.integers(0, 2, 800)
X = np.c_[np.cos(angle), np.sin(angle)] * (0.7 + 0.7 * label)[:, None] + rng.normal(0, 0.12, (800, 2))
omega, phase = rng.normal(0, 2, (2, 200)), rng.uniform(0, 6.3, 200)


def lift(x):
    return np.cos(x @ omega + phase)


grid = np.stack(np.meshgrid(np.linspace(-2, 2, 40), np.linspace(-2, 2, 40)), -1).reshape(-1, 2)
weights, bias = np.zeros(200), 0.0
with tempfile.TemporaryDirectory() as out:
    for epoch in range(80):
        order = rng.permutation(800)
        for b in range(0, 800, 50):
            rows = order[b:b + 50]
            f = lift(X[rows])
            err = 1 / (1 + np.exp(-(f @ weights + bias))) - label[rows]
            weights -= 0.1 * f.T @ err / 50
            bias -= 0.1 * err.mean()
        fig = plt.figure()
        fig.imshow(1 / (1 + np.exp(-(lift(grid) @ weights + bias))).reshape(40, 40), extent=(-2, 2, -2, 2))
        fig.scatter(X[:, 0], X[:, 1])
        fig.savefig(os.path.join(out, "map.ppm"))
        if "--close" in sys.argv:
            plt.close(fig)
accuracy = ((lift(X) @ weights + bias > 0) == label).mean()
print("80 epochs, accuracy %.3f" % accuracy)
