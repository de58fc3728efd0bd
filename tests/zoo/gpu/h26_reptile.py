"""Meta-learning: each task starts from the same weights, which were loaded once, and moves them a little."""
import copy
import os
import tempfile

import torch
from torch import nn


def net():
    return nn.Sequential(nn.Linear(200, 800), nn.Tanh(), nn.Linear(800, 800), nn.Tanh(), nn.Linear(800, 5))


def main():
    with tempfile.TemporaryDirectory() as d:
        torch.save(net().cuda().state_dict(), os.path.join(d, "init.pt"))
        start = torch.load(os.path.join(d, "init.pt"), weights_only=True)
    model = net().cuda()
    model.load_state_dict(start)
    for task in range(25):
        model.load_state_dict(start)
        inner = torch.optim.SGD(model.parameters(), lr=0.02)
        for _ in range(6):
            x, y = torch.randn(25, 200, device="cuda"), torch.randint(0, 5, (25,)).cuda()
            loss = nn.functional.cross_entropy(model(x), y)
            inner.zero_grad()
            loss.backward()
            inner.step()
        now = copy.deepcopy(model.state_dict())
        start = {k: start[k] + 0.1 * (now[k] - start[k]) for k in start}
    print("tasks", task + 1)


if __name__ == "__main__":
    main()
