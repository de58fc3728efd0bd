"""A text classifier whose data set is a list of small dicts with lists of Python numbers, made in the trainer.
Its two workers are forked and only read; but reading a Python object counts a reference up and down, which
writes to its page, so each worker comes to own a copy of what it reads (pytorch#13246; "memory grows in the
workers although nothing is kept"). The fix packs the numbers into one array, with offsets.

usage: worker_list_copy.py [leaky|fixed] [--epochs N] [--documents N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LENGTH = 400
VOCABULARY = 30000
CLASSES = 5
BATCH = 40


def documents(n):
    """What a tokenizer gives, one after another: numbers of tokens that lean to the document's class."""
    rng = np.random.RandomState(0)
    for i in range(n):
        label = i % CLASSES
        lean = 1000 + 200 * label
        tokens = np.where(rng.rand(LENGTH) < 0.1, rng.randint(lean, lean + 200, LENGTH),
                          rng.randint(1000, VOCABULARY, LENGTH))
        yield {"name": "doc-%06d" % i, "tokens": tokens.tolist(), "label": label}  # LEAK


class Documents(Dataset):
    def __init__(self, n):
        self.documents = list(documents(n))  # LEAK

    def __len__(self):
        return len(self.documents)

    def __getitem__(self, i):
        document = self.documents[i]
        tokens = document["tokens"][:LENGTH]
        return torch.tensor(tokens), document["label"]


class PackedDocuments(Dataset):
    """The same in three arrays: nothing to count references of."""

    def __init__(self, n):
        tokens, offsets, labels = [], [0], []
        for document in documents(n):
            tokens.append(np.array(document["tokens"], dtype=np.int32))
            offsets.append(offsets[-1] + len(tokens[-1]))
            labels.append(document["label"])
        self.tokens = np.concatenate(tokens)
        self.offsets, self.labels = np.array(offsets), np.array(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        tokens = self.tokens[self.offsets[i]:self.offsets[i + 1]]
        return torch.from_numpy(tokens.astype(np.int64)), int(self.labels[i])


class Classifier(torch.nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embedding = torch.nn.EmbeddingBag(VOCABULARY, width, mode="mean", sparse=True)
        self.body = torch.nn.Sequential(torch.nn.Linear(width, 128), torch.nn.ReLU(), torch.nn.Linear(128, CLASSES))

    def forward(self, tokens):
        return self.body(self.embedding(tokens))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--documents", type=int, default=6000)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = (Documents if args.variant == "leaky" else PackedDocuments)(args.documents)
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=2, persistent_workers=True)
    net = Classifier()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    steps = 0
    for epoch in range(args.epochs):
        for tokens, labels in loader:
            loss = F.cross_entropy(net(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
