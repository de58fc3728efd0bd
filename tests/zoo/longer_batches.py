"""A language model trained from short to long: each batch is longer than the one before, so what a step computes grows
as well. It lives until the next step's takes its place, and nothing is kept. The leak keeps the last hidden state of
each batch.

usage: longer_batches.py [leaky|fixed] [--steps N]"""
import argparse

import torch
import torch.nn.functional as F

WORDS, WIDTH, BATCH = 200, 24, 8


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH)
        self.mix = torch.nn.Linear(WIDTH, WIDTH)
        self.head = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        hidden = torch.tanh(self.mix(self.embedding(words)))
        return hidden, self.head(hidden)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=160)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Model()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    states = []
    for step in range(args.steps):
        words = torch.randint(0, WORDS, (BATCH, 20 + 2 * step))
        hidden, scores = net(words)
        loss = F.cross_entropy(scores.flatten(0, 1), words.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if args.variant == "leaky":
            states.append(hidden.detach().clone())  # LEAK
    print("steps %d, loss %.3f, %d states" % (args.steps, loss.item(), len(states)))


if __name__ == "__main__":
    main()
