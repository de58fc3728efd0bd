"""A language model fed by an iterable data set that cuts words into sub-words itself, in two loader workers that
persist. The tokenizer remembers how it cut a word, as GPT-2's does. The stream has an endless supply of new words:
names, numbers, addresses.

leaky: it remembers every word.
fixed: the first thousand.

usage: b08_bpe_stream.py leaky|fixed [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

LETTERS = "etaoinshrdlucmfw"
LENGTH, PIECES, BATCH, PER_EPOCH = 32, 256, 16, 75


class Tokenizer:
    def __init__(self, most):
        self.most, self.cache = most, {}
        pairs = sorted((i * j, a + b) for i, a in enumerate(LETTERS, 1) for j, b in enumerate(LETTERS, 1))
        self.ranks = {pair: rank for rank, (_, pair) in enumerate(pairs)}

    def cut(self, word):
        if word in self.cache:
            return self.cache[word]
        pieces = list(word)
        while True:
            best = min(range(len(pieces) - 1), key=lambda k: self.ranks.get(pieces[k] + pieces[k + 1], 999))
            if self.ranks.get(pieces[best] + pieces[best + 1], 999) == 999 or len(pieces) < 4:
                break
            pieces[best:best + 2] = [pieces[best] + pieces[best + 1]]
        ids = [sum(ord(c) * 31 ** k for k, c in enumerate(piece)) % PIECES for piece in pieces]  # LEAK
        if self.most is None or len(self.cache) < self.most:
            self.cache[word] = ids  # HELD
        return ids


class Crawl(IterableDataset):
    def __init__(self, tokenizer):
        self.tokenizer, self.passes = tokenizer, 0

    def __iter__(self):
        info = get_worker_info()
        rng = np.random.RandomState(1000 * self.passes + (info.id if info else 0))
        self.passes += 1
        letters = np.array(list(LETTERS))
        common = ["".join(w) for w in letters[np.random.RandomState(7).randint(0, 16, (400, 5))]]
        for _ in range(PER_EPOCH * BATCH // (info.num_workers if info else 1)):
            fresh = ["".join(w) for w in letters[rng.randint(0, 16, (14, 10))]]
            ids = []
            for word in fresh + [common[k] for k in rng.randint(0, 400, 14)]:
                ids.extend(self.tokenizer.cut(word))
            yield torch.tensor((ids + [0] * LENGTH)[:LENGTH])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(PIECES, 32), nn.GRU(32, 32, batch_first=True), nn.Linear(32, PIECES)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Crawl(Tokenizer(None if args.variant == "leaky" else 1000)), batch_size=BATCH, num_workers=2,
                        persistent_workers=True)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        for ids in loader:
            loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("epochs %d, loss %.4f" % (args.epochs, loss.item()))


if __name__ == "__main__":
    main()
