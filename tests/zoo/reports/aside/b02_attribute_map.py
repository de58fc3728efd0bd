"""Multi-label recognition with a trainer in the style of Lightning; the validation metric is mean average precision
over 200 attributes. The meter collects all scores and targets by concatenating, as the well-known AveragePrecision
meter does, and has a reset().

leaky: nobody calls reset(), so the validation of epoch n sorts the scores of n epochs.
fixed: on_validation_epoch_start resets.

usage: b02_attribute_map.py leaky|fixed [--epochs N]"""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ATTRIBUTES = 200


class AveragePrecision:
    def __init__(self):
        self.reset()

    def reset(self):
        self.scores = torch.zeros(0, ATTRIBUTES)
        self.targets = torch.zeros(0, ATTRIBUTES)

    def add(self, scores, targets):
        self.scores = torch.cat((self.scores, scores))  # LEAK HELD
        self.targets = torch.cat((self.targets, targets))

    def value(self):
        out = []
        for k in range(0, ATTRIBUTES, 10):
            order = self.scores[:, k].argsort(descending=True)
            hit = self.targets[order, k]
            precision = hit.cumsum(0) / torch.arange(1, len(hit) + 1)
            out.append((precision * hit).sum() / hit.sum().clamp(min=1))
        return float(torch.stack(out).mean())


class AttributeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
                                  nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.head = nn.Linear(128, ATTRIBUTES)
        self.val_ap = AveragePrecision()
        self.loss = nn.BCEWithLogitsLoss()

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch):
        x, y = batch
        return self.loss(self(x), y)

    def validation_step(self, batch):
        x, y = batch
        self.val_ap.add(self(x), y)

    def on_validation_epoch_start(self):
        if RESET:
            self.val_ap.reset()

    def validation_epoch_end(self):
        return {"val_map": self.val_ap.value()}


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, module, train, val):
        optimizer = torch.optim.AdamW(module.parameters(), lr=2e-3)
        for epoch in range(self.max_epochs):
            module.train()
            for batch in train:
                loss = module.training_step(batch)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            module.eval()
            module.on_validation_epoch_start()
            with torch.no_grad():
                for batch in val:
                    module.validation_step(batch)
            logs = module.validation_epoch_end()
        print("epochs %d, loss %.4f, map %.4f" % (self.max_epochs, loss.item(), logs["val_map"]))


def pictures(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 3, 32, 32, generator=g)
    mix = torch.randn(27, ATTRIBUTES, generator=torch.Generator().manual_seed(5))
    y = (nn.functional.adaptive_avg_pool2d(x, 3).flatten(1) - 0.5) @ mix > 0.1
    return TensorDataset(x, y.float())


if __name__ == "__main__":
    RESET = sys.argv[1] == "fixed"
    epochs = int(sys.argv[3]) if "--epochs" in sys.argv else 16
    torch.manual_seed(0)
    torch.set_num_threads(1)
    Trainer(epochs).fit(AttributeNet(), DataLoader(pictures(640, 0), batch_size=16, shuffle=True),
                        DataLoader(pictures(1000, 1), batch_size=50))
