"""A training on texts whose vocabulary takes in every word that it meets, also numbers and names that come but once:
small Python objects, keys of one dict. The fix counts words in buckets by their hash.

usage: vocabulary.py leaky|fixed [--steps N]"""
import argparse
import random

import torch

WORDS, ROWS = 512, 4096


class Vocabulary:
    def __init__(self, rows=None):
        self.rows, self.by_word = rows, {}

    def row(self, word):
        if self.rows:
            return hash(word) % self.rows
        return self.by_word.setdefault(word, len(self.by_word)) % ROWS  # LEAK


def text(step):
    return ["%s-%d-%d" % (random.choice(("order", "ticket", "user")), step, k) for k in range(WORDS)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=1500)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    vocabulary = Vocabulary(ROWS if args.variant == "fixed" else None)
    net = torch.nn.EmbeddingBag(ROWS, 16)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    for step in range(args.steps):
        rows = torch.tensor([[vocabulary.row(word) for word in text(step)]])
        loss = net(rows).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("%d words, loss %.3f" % (len(vocabulary.by_word), float(loss)))


if __name__ == "__main__":
    main()
