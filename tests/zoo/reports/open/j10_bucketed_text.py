import random

import torch
from torch import nn, optim
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

"""Sentence classification with length buckets. Two workers, made anew for each epoch."""


class Sentences(Dataset):
    def __init__(self, n=640, vocab=400):
        gen = torch.Generator().manual_seed(4)
        lengths = torch.randint(5, 40, (n,), generator=gen).tolist()
        self.tokens = [torch.randint(2, vocab, (k,), generator=gen) for k in lengths]
        self.labels = [int((t % 5 == 0).sum() > len(t) / 5) for t in self.tokens]

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i].clone(), self.labels[i]


class Buckets(Sampler):
    def __init__(self, ds, size):
        self.order = sorted(range(len(ds)), key=lambda i: len(ds.tokens[i]))
        self.size, self.epoch = size, 0

    def __len__(self):
        return len(self.order) // self.size

    def __iter__(self):
        batches = [self.order[k:k + self.size] for k in range(0, len(self.order), self.size)]
        random.Random(self.epoch).shuffle(batches)
        self.epoch += 1
        return iter(batches)


def collate(items):
    tokens, labels = zip(*items)
    return pad_sequence(tokens, batch_first=True), torch.tensor(labels), torch.tensor([len(t) for t in tokens])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(400, 32, padding_idx=0)
        self.rnn = nn.GRU(32, 32, batch_first=True)
        self.out = nn.Linear(32, 2)

    def forward(self, x, n):
        h, _ = self.rnn(self.emb(x))
        return self.out(h[torch.arange(len(x)), n - 1])


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ds = Sentences()
    loader = DataLoader(ds, batch_sampler=Buckets(ds, 20), collate_fn=collate, num_workers=2)
    net = Net()
    opt = optim.Adam(net.parameters(), lr=4e-3)
    for ep in range(3):
        tot = 0.
        for x, y, n in loader:
            loss = nn.functional.cross_entropy(net(x, n), y)
            opt.zero_grad(); loss.backward(); opt.step()
            tot += loss.detach().item()
        print(f"epoch {ep}: {tot / len(loader):.4f}", flush=True)
