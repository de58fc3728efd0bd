"""Detection with boxes of all kinds. Batches with a bad annotation are skipped, and what went wrong is kept for a
summary at the end of the run."""
import argparse
import random

import torch
from torch import nn

torch.backends.cudnn.enabled = False


class BadTargets(ValueError):
    pass


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 3, stride=2, padding=1)
        self.trunk = nn.Conv2d(12, 12, 3, padding=1)
        self.boxes = nn.Conv2d(12, 5, 1)

    def forward(self, images, targets):
        stem = torch.relu(self.stem(images))  # LEAK
        features = torch.relu(self.trunk(stem))  # LEAK
        raw = self.boxes(features)
        return self.loss(raw, targets)

    def loss(self, raw, targets):
        if any(w <= 0 or h <= 0 for boxes in targets for _, _, w, h in boxes):
            raise BadTargets("All bounding boxes should have positive height and width")
        return raw.mean() + raw.pow(2).mean()


def annotations(rng, batch):
    out = []
    for _ in range(batch):
        boxes = [(rng.random(), rng.random(), rng.random(), rng.random()) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.08:
            boxes.append((0.2, 0.2, 0.0, 0.4))
        out.append(boxes)
    return out


def train(args):
    rng = random.Random(11)
    model = Detector().to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    skipped = []
    for step in range(args.steps):
        images = torch.rand(4, 3, 128, 128).to(args.device)  # LEAK
        targets = annotations(rng, 4)
        try:
            optimizer.zero_grad()
            model(images, targets).backward()
            optimizer.step()
        except BadTargets as error:
            skipped.append((step, str(error) if args.text_only else error))  # HELD
    print("%d of %d batches skipped, the first: %s" % (len(skipped), args.steps, skipped[0][1]))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--steps", type=int, default=120)
    ap.add_argument("--text-only", action="store_true")
    train(ap.parse_args())
