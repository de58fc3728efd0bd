"""A script in two parts: an autoencoder is trained, then its encoder is frozen, the features of a second data set are
computed once, and a probe is trained on them and tested. Features, second loader and probe come in the middle of the
run and stay to its end, because they are used to its end: a higher level, and a flat one.

usage: healthy_second_stage.py [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

SIDE, CLASSES, BATCH, CHANNELS = 32, 6, 16, 24


class Gratings(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(self.seed + i)
        v, u = np.mgrid[0:SIDE, 0:SIDE] / float(SIDE)
        turn = np.pi * (i % CLASSES) / CLASSES
        wave = np.sin(18 * (u * np.cos(turn) + v * np.sin(turn)) + 6 * rng.rand())
        return torch.from_numpy((wave + 0.3 * rng.randn(1, SIDE, SIDE)).astype(np.float32)), i % CLASSES


def make_encoder():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 16, 5, stride=2, padding=2), torch.nn.ReLU(),
                               torch.nn.Conv2d(16, CHANNELS, 3, stride=2, padding=1), torch.nn.ReLU())


def make_decoder():
    return torch.nn.Sequential(torch.nn.ConvTranspose2d(CHANNELS, 16, 4, stride=2, padding=1), torch.nn.ReLU(),
                               torch.nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1))


def train_autoencoder(encoder, epochs):
    decoder = make_decoder()
    optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=2e-3)
    loader, steps = DataLoader(Gratings(50 * BATCH, 0), batch_size=BATCH, shuffle=True), 0
    for epoch in range(epochs):
        for images, _ in loader:
            loss = F.mse_loss(decoder(encoder(images + 0.3 * torch.randn_like(images))), images)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    return steps


@torch.no_grad()
def features(encoder, data):
    encoder.eval()
    parts = [(encoder(images).flatten(1), labels) for images, labels in DataLoader(data, batch_size=4 * BATCH)]
    return TensorDataset(torch.cat([x for x, _ in parts]), torch.cat([y for _, y in parts]))


def train_probe(train, epochs):
    probe = torch.nn.Sequential(torch.nn.Linear(CHANNELS * 64, 128), torch.nn.ReLU(), torch.nn.Linear(128, CLASSES))
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.02, momentum=0.9)
    loader, steps = DataLoader(train, batch_size=BATCH, shuffle=True), 0
    for epoch in range(epochs):
        for x, labels in loader:
            loss = F.cross_entropy(probe(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("probe, epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    return probe, steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    encoder = make_encoder()
    steps = train_autoencoder(encoder, args.epochs)
    train, test = features(encoder, Gratings(80 * BATCH, 10000)), features(encoder, Gratings(20 * BATCH, 20000))
    probe, more = train_probe(train, args.epochs)
    with torch.no_grad():
        right = sum(int((probe(x).argmax(1) == y).sum()) for x, y in DataLoader(test, batch_size=BATCH))
    print("steps %d, %.3f right" % (steps + more, right / len(test)))


if __name__ == "__main__":
    main()
