"""Segmentation in the manner of a Lightning module: training_step returns its loss and its predictions, the
trainer collects what the steps return until the epoch's end, and so holds every step's predictions with
their graphs; then it lets go. Memory is a sawtooth with the epoch's length (Lightning#15514, #4556). The fix
returns the loss alone and collects numbers.

usage: epoch_outputs.py [leaky|fixed] [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE = 64
CLASSES = 6
BATCH = 8


class Shapes(Dataset):
    """A bright disc on noise; the label is the disc's class where it lies, else 0."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        x, y, r = rng.randint(16, 48), rng.randint(16, 48), rng.randint(6, 16)
        yy, xx = np.mgrid[:SIDE, :SIDE]
        inside = (xx - x) ** 2 + (yy - y) ** 2 < r * r
        kind = 1 + i % (CLASSES - 1)
        image = rng.rand(1, SIDE, SIDE).astype(np.float32) * 0.3
        image[0, inside] += kind / CLASSES
        return torch.from_numpy(image), torch.from_numpy(np.where(inside, kind, 0))


class Segmenter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, stride=2, padding=1), torch.nn.ReLU(),
                                        torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.ReLU())
        self.head = torch.nn.ConvTranspose2d(8, CLASSES, 2, stride=2)

    def forward(self, images):
        return self.head(self.body(images))  # LEAK

    def training_step(self, batch):
        images, labels = batch
        predictions = self(images)
        return {"loss": F.cross_entropy(predictions, labels), "predictions": predictions}

    def training_epoch_end(self, outputs):
        return sum(float(o["loss"]) for o in outputs) / len(outputs)


class Trainer(object):
    def __init__(self, net, variant):
        self.net, self.variant = net, variant
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        self.steps = 0

    def run_epoch(self, loader):
        outputs = []
        for batch in loader:
            output = self.net.training_step(batch)
            self.optimizer.zero_grad()
            output["loss"].backward()
            self.optimizer.step()
            self.steps += 1
            outputs.append(output if self.variant == "leaky" else {"loss": output["loss"].item()})
        return self.net.training_epoch_end(outputs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Shapes(40 * BATCH), batch_size=BATCH, shuffle=True)
    trainer = Trainer(Segmenter(), args.variant)
    for epoch in range(args.epochs):
        print("epoch %d: loss %.4f" % (epoch + 1, trainer.run_epoch(loader)), flush=True)
    print("steps %d" % trainer.steps)


if __name__ == "__main__":
    main()
