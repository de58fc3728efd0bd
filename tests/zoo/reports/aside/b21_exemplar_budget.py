"""Class-incremental learning with rehearsal (as iCaRL does): six tasks of two new classes each, and a memory of
exemplars with at most 120 a class and 900 in all. It grows for the first four tasks; from then on what the new classes
get the old ones lose.

usage: b21_exemplar_budget.py [--epochs N]"""
import argparse
import random

import torch
import torch.nn as nn

TASKS, PER_CLASS, BUDGET, BATCH, SIDE = 6, 120, 900, 16, 36


class Memory:
    def __init__(self):
        self.of = {}

    def take(self, label, images, features):
        near = (features - features.mean(0)).norm(dim=1).argsort()
        self.of[label] = [images[i].clone() for i in near[:PER_CLASS]]
        share = min(PER_CLASS, BUDGET // len(self.of))
        for kept in self.of.values():
            del kept[share:]

    def all(self):
        return [(image, label) for label, kept in self.of.items() for image in kept]


def pictures(label, n):
    g = torch.Generator().manual_seed(label)
    pattern = torch.rand(3, 6, 6, generator=g).repeat_interleave(6, 1).repeat_interleave(6, 2)
    return pattern + 0.6 * torch.randn(n, 3, SIDE, SIDE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    body = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(), nn.Conv2d(32, 48, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                         nn.Flatten())
    memory, head, steps = Memory(), None, 0
    for task in range(TASKS):
        labels = (2 * task, 2 * task + 1)
        fresh = {label: pictures(label, 160) for label in labels}
        old, head = head, nn.Linear(48 * 16, 2 * task + 2)
        if old is not None:
            with torch.no_grad():
                head.weight[:2 * task], head.bias[:2 * task] = old.weight, old.bias
        optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.02, momentum=0.9)
        samples = memory.all() + [(image, label) for label in labels for image in fresh[label]]
        for epoch in range(args.epochs):
            random.shuffle(samples)
            for at in range(0, len(samples), BATCH):
                x = torch.stack([image for image, _ in samples[at:at + BATCH]])
                y = torch.tensor([label for _, label in samples[at:at + BATCH]])
                loss = nn.functional.cross_entropy(head(body(x)), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
        with torch.no_grad():
            for label in labels:
                memory.take(label, fresh[label], body(fresh[label]))
    print("steps %d, loss %.4f, exemplars %d" % (steps, loss.item(), len(memory.all())))


if __name__ == "__main__":
    main()
