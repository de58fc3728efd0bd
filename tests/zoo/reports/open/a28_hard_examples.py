"""Hard example mining: the worst picture of each batch is put aside and shown again in every tenth step."""
import argparse
import heapq
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F

tie = itertools.count()


class HardExamples:
    def __init__(self, limit):
        self.limit, self.items = limit, []

    def offer(self, loss, image, label):
        entry = (loss, next(tie), image, label)
        if not self.limit:
            self.items.append(entry)  # HELD
        elif len(self.items) < self.limit:
            heapq.heappush(self.items, (loss, entry[1], image.clone(), label.clone()))
        else:
            heapq.heappushpop(self.items, (loss, entry[1], image.clone(), label.clone()))

    def worst(self, k):
        chosen = heapq.nlargest(k, self.items)
        return torch.stack([c[2] for c in chosen]), torch.stack([c[3] for c in chosen])


def get_batch(gen, n=16):
    labels = torch.randint(0, 6, (n,), generator=gen)
    images = torch.rand(n, 3, 32, 32, generator=gen)  # LEAK
    images[:, 0] += labels.view(-1, 1, 1) / 6
    return images, labels


def build():
    return nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 6))


def main(steps, limit):
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(12)
    net = build()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    hard = HardExamples(limit)
    for step in range(1, steps + 1):
        images, labels = get_batch(gen)
        if step % 10 == 0:
            extra, extra_labels = hard.worst(8)
            images, labels = torch.cat([images, extra]), torch.cat([labels, extra_labels])
        losses = F.cross_entropy(net(images), labels, reduction="none")
        opt.zero_grad()
        losses.mean().backward()
        opt.step()
        k = losses[:16].argmax().item()
        hard.offer(losses[k].item(), images[k], labels[k])
    print("steps %d loss %.3f put aside %d" % (steps, losses.mean().item(), len(hard.items)))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=200)
    ap.add_argument("--limit", type=int, default=0)
    a = ap.parse_args()
    main(a.steps, a.limit)
