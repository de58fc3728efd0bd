"""Distillation: a large teacher's logits are kept, so that it must run but once for each sample."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Codes(Dataset):
    def __init__(self, n=512):
        self.x = torch.randint(0, 800, (n, 10), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return i, self.x[i]


class Bag(nn.Module):
    def __init__(self, d, classes=600):
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(800, d), nn.Linear(d, classes)

    def forward(self, x):
        return self.out(torch.tanh(self.bag(x)))


class Distiller:
    def __init__(self, hparams):
        self.hp = hparams
        self.teacher = Bag(48).requires_grad_(False)
        self.student = Bag(12)
        self.optimizer = torch.optim.Adam(self.student.parameters(), lr=0.01)
        self.teacher_logits = {}

    def teach(self, batch_idx, ids, x):
        if self.hp.cache_key == "batch":
            key = (self.current_epoch, batch_idx)
            if key not in self.teacher_logits:
                self.teacher_logits[key] = self.teacher(x)  # LEAK HELD
            return self.teacher_logits[key]
        missing = [k for k, i in enumerate(ids.tolist()) if i not in self.teacher_logits]
        if missing:
            for k, row in zip(missing, self.teacher(x[missing])):
                self.teacher_logits[int(ids[k])] = row.clone()
        return torch.stack([self.teacher_logits[i] for i in ids.tolist()])

    def training_step(self, batch, batch_idx):
        ids, x = batch
        t = self.teach(batch_idx, ids, x)
        return F.kl_div(F.log_softmax(self.student(x) / 2, 1), F.softmax(t / 2, 1), reduction="batchmean")

    def fit(self, loader):
        for self.current_epoch in range(self.hp.max_epochs):
            for batch_idx, batch in enumerate(loader):
                loss = self.training_step(batch, batch_idx)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--max-epochs", type=int, default=10)
    ap.add_argument("--cache-key", choices=("batch", "sample"), default="batch")
    hp = ap.parse_args()
    torch.manual_seed(0)
    d = Distiller(hp)
    print("loss %.4f entries %d" % (d.fit(DataLoader(Codes(), batch_size=32, shuffle=True)), len(d.teacher_logits)))
