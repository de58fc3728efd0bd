#
# Gaussians are cloned until iteration 120 of 260 and trained on from there; now and then some are pruned.
#
from argparse import ArgumentParser

import torch
from torch import nn


class GaussianModel:
    def __init__(self, n, device):
        self.device = device
        self._xyz = nn.Parameter(torch.rand(n, 3, device=device))
        self._features = nn.Parameter(torch.rand(n, 45, device=device))
        self.optimizer = torch.optim.Adam([{"params": [self._xyz], "lr": 1e-4, "name": "xyz"},
                                           {"params": [self._features], "lr": 1e-3, "name": "f"}], eps=1e-15)

    def replace(self, make):
        for group in self.optimizer.param_groups:
            old = group["params"][0]
            state = self.optimizer.state.pop(old, None)
            new = nn.Parameter(make(old.data))
            if state:
                state["exp_avg"], state["exp_avg_sq"] = make(state["exp_avg"]), make(state["exp_avg_sq"])
                self.optimizer.state[new] = state
            group["params"][0] = new
            setattr(self, {"xyz": "_xyz", "f": "_features"}[group["name"]], new)

    def clone(self, share):
        n = int(len(self._xyz) * share)
        self.replace(lambda t: torch.cat([t, t[:n]], dim=0))

    def prune(self, n):
        self.replace(lambda t: t[n:].clone())


def training(args):
    g = GaussianModel(20000, args.device)
    for iteration in range(1, args.iterations + 1):
        image = torch.sigmoid(g._features.mean(1)) * g._xyz.norm(dim=1)
        loss = image.mean()
        loss.backward()
        g.optimizer.step()
        g.optimizer.zero_grad(set_to_none=True)
        if iteration < args.densify_until_iter and iteration % 10 == 0:
            g.clone(0.12)
            g.prune(300)
    print("gaussians", len(g._xyz))


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--iterations", type=int, default=260)
    parser.add_argument("--densify_until_iter", type=int, default=120)
    training(parser.parse_args())
