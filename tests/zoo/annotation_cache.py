"""Instance segmentation in small, with a cache that grows: the collate function writes the masks it has
made into the annotation dict of the dataset, which so comes to own every image's masks.

usage: annotation_cache.py [leak|fixed] [--epochs N] [--images N] [--workers N]"""
import argparse
import copy

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

SIDE = 96


class Annotations(Dataset):
    """Polygons in memory, photographs and masks made when they are needed."""

    def __init__(self, n, fixed):
        self.fixed = fixed
        self.by_name = {"%06d.jpg" % i: {"boxes": [(4 * k, 4 * k, 4 * k + 40, 4 * k + 40) for k in range(1 + i % 6)],
                                         "masks": None}
                        for i in range(n)}
        self.names = list(self.by_name)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        annotation = self.by_name[self.names[i]]
        photograph = np.full((SIDE, SIDE, 3), i % 251, dtype=np.uint8)
        return photograph, copy.copy(annotation) if self.fixed else annotation


def draw(boxes):
    masks = np.zeros((len(boxes), SIDE, SIDE), dtype=np.float32)
    for mask, (x0, y0, x1, y1) in zip(masks, boxes):
        mask[y0:y1, x0:x1] = 1
    return masks


def collate(batch):
    photographs, targets = [], []
    for photograph, target in batch:
        photographs.append(torch.from_numpy(photograph).permute(2, 0, 1).float() / 255)
        target["masks"] = torch.tensor(draw(target["boxes"]))  # LEAK
        targets.append(target)
    return torch.stack(photographs), targets


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", nargs="?", default="leak", choices=("leak", "fixed"))
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--images", type=int, default=1200)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.ReLU(),
                              torch.nn.Conv2d(8, 8, 3, stride=2, padding=1), torch.nn.ReLU(),
                              torch.nn.Conv2d(8, 1, 1), torch.nn.Upsample(scale_factor=4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(Annotations(args.images, args.variant == "fixed"), batch_size=8, shuffle=True,
                        collate_fn=collate, num_workers=args.workers)
    steps = 0
    for epoch in range(args.epochs):
        for photographs, targets in loader:
            wanted = torch.stack([t["masks"].amax(0, keepdim=True) for t in targets])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(net(photographs), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
