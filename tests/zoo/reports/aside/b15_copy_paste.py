"""Instance segmentation with copy-paste augmentation. The data set has all its samples in memory; the augmentation
pastes an instance of another sample and adds its mask to the sample's.

leaky: to the list the data set has, which thus is longer every time the sample comes.
fixed: to a copy of the list.

usage: b15_copy_paste.py leaky|fixed [--epochs N]"""
import argparse
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIDE = 64


class Shapes(Dataset):
    def __init__(self, n, transform):
        self.transform, self.records = transform, []
        for _ in range(n):
            masks = [self.blob() for _ in range(2)]
            self.records.append({"masks": masks, "tint": torch.rand(3)})

    @staticmethod
    def blob():
        y, x = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
        cy, cx, r = torch.randint(12, SIDE - 12, (3,)).tolist()
        return ((y - cy).float() ** 2 + (x - cx).float() ** 2 < (4 + r / 8) ** 2).float()

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        return self.transform(self.records[i], self.records[random.randrange(len(self.records))])


class CopyPaste:
    def __init__(self, own_list):
        self.own_list = own_list

    def __call__(self, record, donor):
        if self.own_list:
            record = dict(record, masks=list(record["masks"]))
        pasted = donor["masks"][0].roll((random.randrange(-20, 20), random.randrange(-20, 20)), (0, 1))  # LEAK
        record["masks"].append(pasted)  # HELD
        return record


def collate(records):
    heat = torch.stack([torch.stack(r["masks"]).amax(0) for r in records])
    tint = torch.stack([r["tint"] for r in records])
    images = heat[:, None] * tint[:, :, None, None] + 0.3 * torch.rand(len(records), 3, SIDE, SIDE)
    return images, heat


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    data = Shapes(240, CopyPaste(args.variant == "fixed"))
    loader = DataLoader(data, batch_size=8, shuffle=True, collate_fn=collate, num_workers=0)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                        nn.Conv2d(16, 1, 3, padding=1))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        for images, heat in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net(images)[:, 0], heat)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("epochs %d, loss %.4f" % (args.epochs, loss.item()))


if __name__ == "__main__":
    main()
