# Semi-supervised training: a short labelled loader and a long unlabelled one, both made endless.
#   ENDLESS=cycle    itertools.cycle
#   ENDLESS=restart  a generator that starts the loader again
import itertools
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

endless_kind = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ENDLESS", "cycle")

torch.manual_seed(5)
torch.set_num_threads(1)


class Textures(Dataset):
    def __init__(self, n, labelled):
        self.n, self.labelled = n, labelled

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        c = i % 4
        t = torch.arange(40.).view(1, -1) * (0.3 + 0.35 * c) + torch.rand(1) * 6
        img = (torch.sin(t) * torch.cos(t.t() * 0.2)).expand(3, 40, 40) + 0.4 * torch.randn(3, 40, 40)
        if self.labelled:
            return img, c
        return img, img.flip(1) + 0.2 * torch.randn(3, 40, 40)


def restart(loader):
    while True:
        for batch in loader:
            yield batch


endless = itertools.cycle if endless_kind == "cycle" else restart
labelled = endless(DataLoader(Textures(160, True), batch_size=8, shuffle=True))  # HELD (see below)
unlabelled = endless(DataLoader(Textures(1600, False), batch_size=8, shuffle=True))  # HELD
net = nn.Sequential(nn.Conv2d(3, 12, 5, 3), nn.ReLU(), nn.Conv2d(12, 16, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
                    nn.Flatten(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(1, 241):
    x, y = next(labelled)
    weak, strong = next(unlabelled)  # LEAK (DataLoader's collate, in here)
    with torch.no_grad():
        target = net(weak).softmax(1)
    loss = F.cross_entropy(net(x), y) + 0.5 * F.kl_div(net(strong).log_softmax(1), target, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print("step %d loss %.4f" % (step, loss.item()), flush=True)
