"""Cross-validation on categorical columns. The collector is off while training, as it costs time with many small objects."""
import argparse
import gc
import weakref

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

gc.disable()


class Callback:
    def __init__(self, trainer):
        self.trainer = trainer  # HELD

    def on_epoch_end(self, loss):
        pass


class EarlyStopping(Callback):
    best, wait = float("inf"), 0

    def on_epoch_end(self, loss):
        self.wait = 0 if loss < self.best else self.wait + 1
        self.best = min(self.best, loss)
        if self.wait > 5:
            self.trainer.stop = True


class Trainer:
    def __init__(self, n_columns, weak):
        self.model = nn.Sequential(nn.Embedding(7000, 20), nn.Flatten(), nn.Dropout(0.1),  # LEAK
                                   nn.Linear(20 * n_columns, 32), nn.ReLU(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.stop = False
        self.callbacks = [EarlyStopping(weakref.proxy(self) if weak else self)]

    def fit(self, X, y, epochs=3):
        loader = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)
        for _ in range(epochs):
            total = 0.0
            for xb, yb in loader:
                loss = nn.functional.mse_loss(self.model(xb).squeeze(1), yb)
                self.optimizer.zero_grad()
                loss.backward()  # LEAK
                self.optimizer.step()  # LEAK
                total += loss.item()
            for cb in self.callbacks:
                cb.on_epoch_end(total)
            if self.stop:
                break
        return self

    @torch.no_grad()
    def score(self, X, y):
        self.model.eval()
        return nn.functional.mse_loss(self.model(X).squeeze(1), y).item()


def kfold(n, k, rng):
    order = rng.permutation(n)
    for part in np.array_split(order, k):
        mask = np.ones(n, bool)
        mask[part] = False
        yield np.flatnonzero(mask), part


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--folds", type=int, default=10)
    p.add_argument("--callback-ref", choices=("strong", "weak"), default="strong")
    a = p.parse_args()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.integers(0, 7000, (440, 6)))
    y = (X[:, 0] % 2 + X[:, 1] % 3).float() - 1.5
    scores = []
    for train, test in kfold(len(X), a.folds, rng):
        trainer = Trainer(6, a.callback_ref == "weak")
        trainer.fit(X[train], y[train])
        scores.append(trainer.score(X[test], y[test]))
        del trainer
    print("cv mse %.4f over %d folds" % (np.mean(scores), a.folds))
