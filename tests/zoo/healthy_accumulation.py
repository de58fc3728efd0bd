"""Gradient accumulation: an optimizer step every four small batches. Between two of them gradients stay, and so does a
running loss, detached; with set_to_none the gradients go after each step and are made anew.

usage: healthy_accumulation.py [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

VOCABULARY, LENGTH, WIDTH, MICRO, ACCUMULATE = 400, 16, 64, 4, 4


class Sentences(Dataset):
    """Sequences in which each token follows from the one before, most of the time."""

    def __init__(self, n):
        self.n, self.successor = n, np.random.RandomState(0).permutation(VOCABULARY)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        tokens = [rng.randint(VOCABULARY)]
        for surprise in rng.rand(LENGTH) < 0.1:
            tokens.append(rng.randint(VOCABULARY) if surprise else self.successor[tokens[-1]])
        return torch.tensor(tokens)


class LanguageModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.1, batch_first=True)
        self.body = torch.nn.TransformerEncoder(layer, 1)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), float("-inf")).triu(1))

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens), self.mask))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = LanguageModel()
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
    loader = DataLoader(Sentences(42 * MICRO * ACCUMULATE), batch_size=MICRO, shuffle=True)
    steps = 0
    for epoch in range(args.epochs):
        optimizer.zero_grad(set_to_none=True)
        running = torch.zeros(())
        for i, tokens in enumerate(loader):
            logits = net(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()) / ACCUMULATE
            loss.backward()
            running += loss.detach()
            if (i + 1) % ACCUMULATE == 0:
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad(set_to_none=True)
                steps += 1
        print("epoch %d: loss %.4f" % (epoch + 1, running.item() * ACCUMULATE / len(loader)), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
