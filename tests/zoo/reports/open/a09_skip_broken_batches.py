"""Training that goes on when a batch's loss is not finite; what went wrong is listed at the end."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def loader(n, gen):
    for i in range(n):
        images = torch.rand(16, 1, 32, 32, generator=gen)
        labels = (images.mean((1, 2, 3)) * 400 - 190).long().clamp(0, 9)
        if i % 8 == 5:
            images[3] = float("nan")
        yield images, labels


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.fc = nn.Linear(8 * 16, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))  # LEAK
        x = F.relu(self.conv2(x))  # LEAK
        return self.fc(F.adaptive_avg_pool2d(x, 4).flatten(1))


class NonFinite(RuntimeError):
    pass


def training_step(model, optimizer, batch):
    images, labels = batch
    optimizer.zero_grad()
    logits = model(images)
    loss = F.cross_entropy(logits, labels)
    if not torch.isfinite(loss):
        raise NonFinite("loss is %r" % loss.item())
    loss.backward()
    optimizer.step()
    return loss.item()


def train(args):
    torch.manual_seed(0)
    model = ConvNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    failures, last = [], None
    for epoch in range(args.epochs):
        for i, batch in enumerate(loader(args.batches, torch.Generator().manual_seed(epoch))):
            try:
                last = training_step(model, optimizer, batch)
            except NonFinite as err:
                failures.append((epoch, i, err if args.report == "exceptions" else repr(err)))  # HELD
    print("last loss %.4f" % last)
    print("%d batches left out, the first: %s" % (len(failures), failures[0]))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batches", type=int, default=56)
    ap.add_argument("--report", choices=("exceptions", "text"), default="exceptions")
    train(ap.parse_args())
