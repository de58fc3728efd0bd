"""A transformer that is validated with the hidden states of all its layers, under no_grad, batch by batch."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n, self.a, self.b = nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(self.n(x))))


class Encoder(nn.Module):
    def __init__(self, d=128, layers=12):
        super().__init__()
        self.layers = nn.ModuleList(Block(d) for _ in range(layers))
        self.out = nn.Linear(d, 10)

    def forward(self, x, all_states=False):
        states = [x]
        for layer in self.layers:
            states.append(layer(states[-1]))
        return (self.out(states[-1].mean(1)), states) if all_states else self.out(states[-1].mean(1))


@torch.no_grad()
def validate(model, loader):
    model.eval()
    norms = []
    for x, _ in loader:
        logits, states = model(x.cuda(), all_states=True)
        norms.append(torch.stack([s.norm() for s in states]).cpu())
    model.train()
    return len(torch.cat(norms))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    args = ap.parse_args()
    model = Encoder().cuda()
    opt = torch.optim.Adam(model.parameters(), 1e-4)
    train = TensorDataset(torch.randn(320, 32, 128), torch.randint(0, 10, (320,)))
    val = TensorDataset(torch.randn(256, 32, 128), torch.randint(0, 10, (256,)))
    for epoch in range(args.epochs):
        for x, y in DataLoader(train, batch_size=8, shuffle=True):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch, validate(model, DataLoader(val, batch_size=64)))
