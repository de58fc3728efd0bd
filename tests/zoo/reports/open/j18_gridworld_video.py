"""Tabular Q-learning on a grid world with a video recorder around the environment; every 25th episode becomes a
video (here: an .npz)."""
import os
import sys
import tempfile

import numpy as np


class GridWorld:
    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def __init__(self, n=8, seed=0):
        self.n, self.rng = n, np.random.RandomState(seed)

    def reset(self):
        self.pos, self.t = (self.rng.randint(self.n), 0), 0
        return self.pos[0] * self.n + self.pos[1]

    def step(self, action):
        dy, dx = self.moves[action]
        self.pos = (min(max(self.pos[0] + dy, 0), self.n - 1), min(max(self.pos[1] + dx, 0), self.n - 1))
        self.t += 1
        won = self.pos == (self.n - 1, self.n - 1)
        return self.pos[0] * self.n + self.pos[1], float(won) - 0.01, won or self.t >= 40, {}

    def render(self):
        img = np.full((self.n * 6, self.n * 6, 3), 30, np.uint8)
        y, x = self.pos
        img[-6:, -6:, 1] = 200
        img[y * 6:y * 6 + 6, x * 6:x * 6 + 6, 0] = 250
        return img


class VideoRecorder:
    def __init__(self, env, folder, every, clear_on_reset):
        self.env, self.folder, self.every, self.clear_on_reset = env, folder, every, clear_on_reset
        self.episode, self.frames = -1, []

    def reset(self):
        if self.episode >= 0 and self.episode % self.every == 0:
            np.savez_compressed(os.path.join(self.folder, "ep%d" % self.episode), np.stack(self.frames[self.start:]))
        if self.clear_on_reset:
            self.frames = []
        self.episode += 1
        self.start = len(self.frames)
        return self.env.reset()

    def step(self, action):
        out = self.env.step(action)
        frame = self.env.render()  # LEAK
        self.frames.append(frame)  # HELD
        return out


with tempfile.TemporaryDirectory() as folder:
    env = VideoRecorder(GridWorld(), folder, 25, clear_on_reset="clear" in sys.argv[1:])
    q, rng, returns = np.zeros((64, 4)), np.random.RandomState(1), []
    for episode in range(220):
        s, done, ret = env.reset(), False, 0.0
        while not done:
            a = rng.randint(4) if rng.rand() < max(0.05, 0.6 - episode / 200) else int(q[s].argmax())
            s2, r, done, _ = env.step(a)
            q[s, a] += 0.3 * (r + 0.97 * q[s2].max() * (not done) - q[s, a])
            s, ret = s2, ret + r
        returns.append(ret)
    print("mean return, first and last 50: %.2f %.2f, videos %d" % (np.mean(returns[:50]), np.mean(returns[-50:]),
                                                                  len(os.listdir(folder))))
