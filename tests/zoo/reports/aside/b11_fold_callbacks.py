"""Cross-validation with a Keras-like fit(). fit() adds a callback of its own that keeps the best weights.

leaky: the list of callbacks is a mutable default argument, so each fold's keeper joins those of all folds before.
fixed: every fold hands in a list.

usage: b11_fold_callbacks.py leaky|fixed [--folds N]"""
import argparse
import copy

import numpy as np
import torch
import torch.nn as nn

FEATURES, ROWS, BATCH, EPOCHS = 160, 640, 32, 3


class Callback:
    def on_epoch_end(self, epoch, logs):
        pass


class BestWeights(Callback):
    def __init__(self, model):
        self.model, self.best, self.weights = model, np.inf, None

    def on_epoch_end(self, epoch, logs):
        if logs["val_loss"] < self.best:
            self.best, self.weights = logs["val_loss"], copy.deepcopy(self.model.state_dict())  # LEAK

    def restore(self):
        self.model.load_state_dict(self.weights)


def build():
    return nn.Sequential(nn.Linear(FEATURES, 320), nn.ReLU(), nn.BatchNorm1d(320), nn.Linear(320, 320), nn.ReLU(),
                         nn.Linear(320, 1))


def fit(model, train, val, epochs=EPOCHS, callbacks=[]):
    keeper = BestWeights(model)
    callbacks.append(keeper)  # HELD
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = train
    history = []
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.mse_loss(model(x[idx])[:, 0], y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            history.append(float(nn.functional.mse_loss(model(val[0])[:, 0], val[1])))
        for callback in callbacks:
            callback.on_epoch_end(epoch, {"val_loss": history[-1]})
    keeper.restore()
    return history


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--folds", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x = torch.randn(ROWS, FEATURES)
    y = torch.tanh(x[:, :20].sum(1) / 3) + 0.1 * torch.randn(ROWS)
    fold_of = torch.arange(ROWS) % args.folds
    scores = []
    for fold in range(args.folds):
        train, val = (x[fold_of != fold], y[fold_of != fold]), (x[fold_of == fold], y[fold_of == fold])
        if args.variant == "fixed":
            history = fit(build(), train, val, callbacks=[])
        else:
            history = fit(build(), train, val)
        scores.append(min(history))
    print("folds %d, mse %.4f +- %.4f" % (args.folds, np.mean(scores), np.std(scores)))


if __name__ == "__main__":
    main()
