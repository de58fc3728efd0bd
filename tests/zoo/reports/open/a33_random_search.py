"""Random search over learning rate and width; each trial notes its score and how to predict with it."""
import argparse
import random

import torch
from torch import nn


class Study:
    def __init__(self, keep):
        self.keep, self.trials = keep, []

    def tell(self, number, params, score, predict):
        trial = {"number": number, "params": params, "score": score, "predict": predict}
        self.trials.append(trial)  # HELD
        if self.keep == "best":
            best = self.best
            for t in self.trials:
                if t is not best:
                    t["predict"] = None

    @property
    def best(self):
        return min(self.trials, key=lambda t: t["score"])


def data(gen, n):
    x = torch.randint(0, 2000, (n, 5), generator=gen)
    return x, ((x % 7).sum(1).float() - 15) / 5


def objective(params, gen, steps):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(2000, params["width"]), nn.Flatten(), nn.ReLU(), nn.Linear(5 * params["width"], 1))  # LEAK
    opt = torch.optim.Adam(net.parameters(), lr=params["lr"])
    for step in range(steps):
        x, y = data(gen, 64)
        loss = nn.functional.mse_loss(net(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()  # LEAK
        opt.step()  # LEAK
    with torch.no_grad():
        x, y = data(gen, 256)
        score = nn.functional.mse_loss(net(x).squeeze(1), y).item()

    def predict(x):
        net.eval()
        with torch.no_grad():
            return net(x).squeeze(1), opt.param_groups[0]["lr"]
    return score, predict


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--trials", type=int, default=24)
    ap.add_argument("--steps", type=int, default=15)
    ap.add_argument("--keep", choices=("all", "best"), default="all")
    a = ap.parse_args()
    random.seed(3)
    gen = torch.Generator().manual_seed(3)
    study = Study(a.keep)
    for number in range(a.trials):
        params = {"lr": 10 ** random.uniform(-4, -1.5), "width": random.choice((32, 40, 48))}
        study.tell(number, params, *objective(params, gen, a.steps))
    print("%d trials, best %.3f with %s" % (a.trials, study.best["score"], study.best["params"]))
