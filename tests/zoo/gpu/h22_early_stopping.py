"""Early stopping with the best weights on the device, and an average of weights that evaluation uses."""
import copy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.state, self.bad = patience, None, None, 0

    def __call__(self, score, model):
        if self.best is None or score < self.best:
            self.best, self.bad = score, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


def main(epochs=8):
    net = nn.Sequential(nn.Linear(200, 1500), nn.ReLU(), nn.Linear(1500, 700), nn.ReLU(), nn.Linear(700, 20)).cuda()
    averaged = AveragedModel(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    stop = EarlyStopping(patience=4)
    scores = [5, 4, 3.5, 3.6, 3.2, 3.3, 3.4, 3.1]
    for epoch in range(epochs):
        for _ in range(30):
            x, y = torch.randn(64, 200).cuda(), torch.randint(0, 20, (64,)).cuda()
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        averaged.update_parameters(net)
        with torch.no_grad():
            correct = sum(averaged(torch.randn(64, 200, device="cuda")).argmax(1).cpu().numel() for _ in range(5))
        if stop(scores[epoch], net):
            break
    net.load_state_dict(stop.state)
    print("best", stop.best, correct)


if __name__ == "__main__":
    main()
