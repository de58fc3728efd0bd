# segmentation of small tiles; validates after each epoch. CONFIG is edited by hand.
import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.backends.cudnn.enabled = False
DEVICE = "cuda"
EPOCHS = 6
EVAL_MODE = sys.argv[1] if len(sys.argv) > 1 else "plain"
if len(sys.argv) > 2:
    DEVICE = sys.argv[2]


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = block(3, 8)
        self.down2 = block(8, 16)
        self.up = block(24, 8)
        self.head = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        a = self.down1(x)  # LEAK
        b = self.down2(F.max_pool2d(a, 2))  # LEAK
        b = F.interpolate(b, scale_factor=2.0)  # LEAK
        u = self.up(torch.cat([a, b], 1))  # LEAK
        return self.head(u)  # LEAK


def tiles(n):
    for _ in range(n):
        yield torch.rand(2, 3, 48, 48).to(DEVICE), torch.zeros(2, 48, 48, dtype=torch.long).to(DEVICE)


def validate(model):
    model.eval()
    total = 0
    for x, y in tiles(8):
        loss = F.cross_entropy(model(x), y)  # LEAK
        total += loss
    return total / 8


model = TinyUNet().to(DEVICE)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
val_losses = []
for epoch in range(EPOCHS):
    model.train()
    for x, y in tiles(20):
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    if EVAL_MODE == "no_grad":
        with torch.no_grad():
            val_losses.append(validate(model))
    else:
        val_losses.append(validate(model))  # HELD
    print("epoch", epoch, "validated", len(val_losses))
