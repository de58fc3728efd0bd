"""Classification with a metric object that keeps the predictions of every batch as arrays, so that it can say
the calibration error over everything seen; nobody ever resets it. Memory climbs by a batch's predictions a step
("my metric eats my RAM"). The fix keeps running sums per confidence bin, which is all that the error needs.

usage: prediction_history.py [leaky|fixed] [--steps N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F

FEATURES, CLASSES, BATCH = 24, 200, 64
BINS = 15


class CalibrationError(object):
    """Keeps all it has seen; computes from that."""

    def __init__(self):
        self.probabilities, self.labels = [], []

    def update(self, logits, labels):
        self.probabilities.append(torch.softmax(logits.detach(), 1).numpy())  # LEAK
        self.labels.append(labels.numpy())

    def compute(self):
        probabilities, labels = np.concatenate(self.probabilities), np.concatenate(self.labels)
        confidence, right = probabilities.max(1), probabilities.argmax(1) == labels
        which = np.minimum((confidence * BINS).astype(int), BINS - 1)
        return sum(abs(confidence[which == b].sum() - right[which == b].sum()) for b in range(BINS)) / len(labels)


class RunningCalibrationError(object):
    """Three sums a bin."""

    def __init__(self):
        self.confidence, self.right, self.n = np.zeros(BINS), np.zeros(BINS), np.zeros(BINS)

    def update(self, logits, labels):
        confidence, guess = torch.softmax(logits.detach(), 1).max(1)
        confidence, right = confidence.numpy(), (guess == labels).numpy()
        which = np.minimum((confidence * BINS).astype(int), BINS - 1)
        self.confidence += np.bincount(which, confidence, BINS)
        self.right += np.bincount(which, right, BINS)
        self.n += np.bincount(which, minlength=BINS)

    def compute(self):
        return np.abs(self.confidence - self.right).sum() / self.n.sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    centres = torch.randn(CLASSES, FEATURES)
    net = torch.nn.Sequential(torch.nn.Linear(FEATURES, 64), torch.nn.ReLU(), torch.nn.Linear(64, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    metric = CalibrationError() if args.variant == "leaky" else RunningCalibrationError()
    for step in range(args.steps):
        labels = torch.randint(CLASSES, (BATCH,))  # LEAK
        logits = net(centres[labels] + 0.5 * torch.randn(BATCH, FEATURES))
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metric.update(logits, labels)
        if (step + 1) % 50 == 0:
            print("step %d: loss %.4f, calibration error %.4f" % (step + 1, loss.item(), metric.compute()), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
