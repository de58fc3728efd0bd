"""Epoch 0 warms up on plain images, later epochs use strong augmentation; an augmented image is made once an epoch
and remembered because mix-up asks for it again as a partner.

j28_augmented_set.py [--new-epoch keep|clear]"""
import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

CONFIG = {"data": {"n": 320, "side": 40, "classes": 5}, "train": {"epochs": 6, "batch": 8, "lr": 2e-3}}


class Shapes(Dataset):
    def __init__(self, cfg, new_epoch):
        self.n, self.side, self.classes = cfg["n"], cfg["side"], cfg["classes"]
        r = np.random.RandomState(0)
        self.raw = (r.rand(self.n, 3, self.side, self.side) * 90).astype(np.uint8)
        for i in range(self.n):
            c = i % self.classes
            self.raw[i, c % 3, 5 * c:5 * c + 12, ::c + 2] += 140
        self.new_epoch, self.epoch, self._augmented = new_epoch, 0, {}

    def set_epoch(self, epoch):
        self.epoch = epoch
        if self.new_epoch == "clear":
            self._augmented.clear()

    def augment(self, i):
        key = (self.epoch, i)
        if key not in self._augmented:
            r = np.random.RandomState(1000 * self.epoch + i)
            img = np.roll(self.raw[i], r.randint(-3, 4, 2), (1, 2)).astype(np.float32)  # LEAK
            img *= r.uniform(0.7, 1.3)
            img += r.randn(*img.shape) * 6
            self._augmented[key] = img / np.float32(255)  # LEAK HELD
        return self._augmented[key]

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        y = np.zeros(self.classes, np.float32)
        y[i % self.classes] = 1
        if self.epoch == 0:
            return self.raw[i].astype(np.float32) / 255, y
        j, lam = (i * 7 + self.epoch) % self.n, 0.8
        y *= lam
        y[j % self.classes] += 1 - lam
        return lam * self.augment(i) + (1 - lam) * self.augment(j), y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--new-epoch", default="keep", choices=["keep", "clear"])
    opt = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ds, tr = Shapes(CONFIG["data"], opt.new_epoch), CONFIG["train"]
    loader = DataLoader(ds, batch_size=tr["batch"], shuffle=True)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(8 * 144, 5))
    adam = torch.optim.Adam(net.parameters(), tr["lr"])
    for epoch in range(tr["epochs"]):
        ds.set_epoch(epoch)
        for x, y in loader:
            loss = -(y * net(x).log_softmax(1)).sum(1).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)


main()
