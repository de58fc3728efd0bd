"""A language identifier on texts of very different lengths. Batches are filled up to a number of tokens, so both their
length and their number of texts vary, and are padded to their longest: hardly two steps ask for the same sizes.

usage: healthy_padded_batches.py [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

N_TEXTS, LANGUAGES, LETTERS, TOKENS = 900, 6, 64, 1600


class Texts(Dataset):
    def __init__(self):
        rng = np.random.RandomState(0)
        self.lengths = np.clip(rng.lognormal(4.0, 0.7, N_TEXTS), 8, 700).astype(int)
        self.letters = rng.dirichlet(np.full(LETTERS - 1, 0.3), LANGUAGES)

    def __len__(self):
        return N_TEXTS

    def __getitem__(self, i):
        text = np.random.RandomState(i).choice(LETTERS - 1, self.lengths[i], p=self.letters[i % LANGUAGES])
        return torch.from_numpy(text + 1), i % LANGUAGES


class TokenBudget(Sampler):
    """Batches that hold at most TOKENS letters, padding included, in random order."""

    def __init__(self, lengths):
        self.lengths, self.rng = lengths, np.random.RandomState(1)

    def __iter__(self):
        batch, longest = [], 0
        for i in self.rng.permutation(len(self.lengths)):
            longest = max(longest, self.lengths[i])
            if batch and longest * (len(batch) + 1) > TOKENS:
                yield batch
                batch, longest = [], self.lengths[i]
            batch.append(int(i))
        yield batch


def collate(samples):
    samples = sorted(samples, key=lambda sample: -len(sample[0]))
    texts, labels = zip(*samples)
    return pad_sequence(texts, batch_first=True), torch.tensor([len(t) for t in texts]), torch.tensor(labels)


class Identifier(torch.nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embedding = torch.nn.Embedding(LETTERS, width, padding_idx=0)
        self.merge = torch.nn.Linear(4 * width, width)
        self.recurrent = torch.nn.GRU(width, width, batch_first=True)
        self.head = torch.nn.Linear(width, LANGUAGES)

    def forward(self, texts, lengths):
        x = F.pad(self.embedding(texts), (0, 0, 0, -texts.shape[1] % 4))
        x = self.merge(x.reshape(len(texts), x.shape[1] // 4, -1)).relu()
        packed = pack_padded_sequence(x, (lengths + 3) // 4, batch_first=True)
        return self.head(self.recurrent(packed)[1][0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = Texts()
    loader = DataLoader(data, batch_sampler=TokenBudget(data.lengths), collate_fn=collate)
    net = Identifier()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    steps = 0
    for epoch in range(args.epochs):
        for texts, lengths, labels in loader:
            loss = F.cross_entropy(net(texts, lengths), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("epoch %d: loss %.4f, %d steps" % (epoch + 1, loss.item(), steps), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
