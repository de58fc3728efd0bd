"""Segmentation with a validation pass after each epoch, which gathers all outputs to compute one score of them."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.backends.cudnn.enabled = False


class Slices(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return torch.rand(1, 48, 48, generator=g), (torch.rand(1, 48, 48, generator=g) > 0.5).float()


class SmallUNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.down = nn.Conv2d(1, c, 3, padding=1)
        self.mid = nn.Conv2d(c, c, 3, padding=1)
        self.up = nn.Conv2d(2 * c, 1, 3, padding=1)

    def forward(self, x):
        a = torch.relu(self.down(x))  # LEAK
        b = torch.relu(self.mid(a))  # LEAK
        return self.up(torch.cat([a, b], 1))  # LEAK


def dice(pred, true):
    pred = torch.sigmoid(pred)
    return 2 * (pred * true).sum() / (pred.sum() + true.sum() + 1e-6)


def train_one_epoch(net, loader, opt, dev):
    net.train()
    for img, mask in loader:
        img, mask = img.to(dev), mask.to(dev)
        loss = nn.functional.binary_cross_entropy_with_logits(net(img), mask)
        opt.zero_grad()
        loss.backward()
        opt.step()


def validate(net, loader, dev, careful):
    net.eval()
    outputs, targets = [], []
    for img, mask in loader:
        if careful:
            with torch.no_grad():
                outputs.append(net(img.to(dev)).cpu())
        else:
            outputs.append(net(img.to(dev)))  # HELD LEAK
        targets.append(mask)
    outputs = torch.cat(outputs).detach().cpu()
    return dice(outputs, torch.cat(targets))


if __name__ == "__main__":
    careful = "careful" in sys.argv
    dev = "cuda"
    net = SmallUNet().to(dev)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    train = DataLoader(Slices(128), batch_size=4, shuffle=True)
    val = DataLoader(Slices(96), batch_size=4)
    for epoch in range(5):
        train_one_epoch(net, train, opt, dev)
        validate(net, val, dev, careful)
        print("epoch", epoch)
