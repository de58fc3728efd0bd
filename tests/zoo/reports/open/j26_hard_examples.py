"""Online hard example mining: the worst example of each batch is remembered and replayed now and then.

python j26_hard_examples.py --pool all|best"""
import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    """Seven-segment digits with noise."""
    SEGMENTS = [0x77, 0x24, 0x5D, 0x6D, 0x2E, 0x6B, 0x7B, 0x25, 0x7F, 0x6F]

    def __len__(self):
        return 1120

    def __getitem__(self, i):
        r = np.random.RandomState(i)
        d = i % 10
        img = r.rand(3, 32, 32).astype(np.float32) * 0.8
        for s in range(7):
            if self.SEGMENTS[d] >> s & 1:
                y, x = 3 + 8 * (s // 3), 4 + 9 * (s % 3)
                img[:, y:y + 5, x:x + 5] += 0.7
        return img, d


class Pool:
    def __init__(self, keep):
        self.keep, self.items = keep, []

    def add(self, losses, images, labels):
        worst = int(losses.argmax())
        if self.keep == "all":
            self.items.append((losses[worst].item(), images[worst], int(labels[worst])))  # HELD
        else:
            self.items.append((losses[worst].item(), images[worst].clone(), int(labels[worst])))
            self.items.sort(key=lambda it: -it[0])
            del self.items[32:]

    def draw(self, n):
        picked = random.sample(self.items, n)
        return torch.stack([x for _, x, _ in picked]), torch.tensor([y for _, _, y in picked])


def collate(samples):
    images, labels = zip(*samples)
    return torch.from_numpy(np.stack(images)), torch.tensor(labels)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--pool", default="all", choices=["all", "best"])
    args = ap.parse_args()
    torch.manual_seed(0), random.seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(8 * 100, 10))
    sgd = torch.optim.SGD(net.parameters(), 0.03, momentum=0.9)
    loader = DataLoader(Digits(), 16, shuffle=True, num_workers=1, collate_fn=collate, persistent_workers=True)
    pool, step = Pool(args.pool), 0
    for epoch in range(3):
        for images, labels in loader:  # LEAK (the batch's storage, in shared memory)
            losses = F.cross_entropy(net(images), labels, reduction="none")
            pool.add(losses.detach(), images, labels)
            loss = losses.mean()
            if step % 5 == 4 and len(pool.items) >= 8:
                x, y = pool.draw(8)
                loss = loss + 0.5 * F.cross_entropy(net(x), y)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
            step += 1
        print("epoch %d loss %.3f pool %d" % (epoch, loss.item(), len(pool.items)), flush=True)
