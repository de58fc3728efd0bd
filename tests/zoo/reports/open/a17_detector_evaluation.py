"""A toy detector; each epoch's evaluation gathers boxes and masks of all images, as a COCO evaluator does, then scores."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU())
        self.mask = nn.Conv2d(8, 1, 1)
        self.box = nn.Linear(8, 4)

    def forward(self, x):
        f = self.backbone(x)
        return self.mask(f), self.box(f.mean((2, 3))).sigmoid()


class Evaluator:
    def __init__(self):
        self.results = {}

    def update(self, ids, masks, boxes):
        for i, m, b in zip(ids, masks.sigmoid().numpy(), boxes.numpy()):
            self.results[i] = {"mask": m.copy(), "box": b.copy()}

    def summarize(self, truth):
        ious = []
        for i, r in self.results.items():
            p, t = r["mask"][0] > 0.5, truth[i] > 0.5
            ious.append((p & t).sum() / max((p | t).sum(), 1))
        return float(np.mean(ious))


def image(i, side=48):
    rng = np.random.RandomState(i)
    x0, y0 = rng.randint(4, 24, 2)
    w, h = rng.randint(8, 20, 2)
    m = np.zeros((1, side, side), np.float32)
    m[0, y0:y0 + h, x0:x0 + w] = 1
    return m + 0.5 * rng.rand(1, side, side).astype(np.float32), m, np.array([x0, y0, w, h], np.float32) / side


def collate(ids):
    xs, ms, bs = zip(*map(image, ids))
    return torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ms)), torch.from_numpy(np.stack(bs))


def main():
    torch.manual_seed(0)
    net = Detector()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(5):
        for k in range(24):
            x, m, b = collate(range(epoch * 240 + k * 8, epoch * 240 + k * 8 + 8))
            pm, pb = net(x)
            loss = F.binary_cross_entropy_with_logits(pm, m) + F.l1_loss(pb, b)
            opt.zero_grad()
            loss.backward()
            opt.step()
        evaluator, truth = Evaluator(), {}
        with torch.no_grad():
            for k in range(0, 320, 16):
                ids = list(range(90000 + k, 90000 + k + 16))
                x, m, b = collate(ids)
                pm, pb = net(x)
                evaluator.update(ids, pm, pb)
                truth.update((i, t[0].numpy()[None]) for i, t in zip(ids, m))
        iou = evaluator.summarize(truth)
        del evaluator, truth
    print("steps 120, mask IoU %.3f" % iou)


main()
