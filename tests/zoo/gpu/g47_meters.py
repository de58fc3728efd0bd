"""VAE; a dictionary of loss terms is collected for the epoch's log, and the epochs' logs for a plot."""
import argparse
from collections import defaultdict

import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, x=784, h=256, z=20):
        super().__init__()
        self.enc, self.mu, self.lv = nn.Linear(x, h), nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, x))

    def forward(self, x):
        h = torch.relu(self.enc(x))  # LEAK
        mu, lv = self.mu(h), self.lv(h)  # LEAK
        z = mu + torch.randn_like(mu) * (lv / 2).exp()  # LEAK
        return self.dec(z), mu, lv  # LEAK


def losses(out, x, mu, lv):
    rec = (out - x).pow(2).sum(1).mean()  # LEAK
    kl = -0.5 * (1 + lv - mu.pow(2) - lv.exp()).sum(1).mean()  # LEAK
    sparsity = out.abs().mean()  # LEAK
    return {"rec": rec, "kl": kl, "sparsity": sparsity}


class Log:
    def __init__(self, plain):
        self.plain = plain
        self.epochs = []
        self.now = defaultdict(list)

    def add(self, terms):
        for name, term in terms.items():
            self.now[name].append(term.item() if self.plain else term)  # HELD

    def end_epoch(self):
        self.epochs.append(dict(self.now))  # HELD
        self.now.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    vae = VAE().cuda()
    opt = torch.optim.Adam(vae.parameters())
    log = Log(args.plain)
    for epoch in range(args.epochs):
        for i in range(50):
            x = torch.rand(100, 784).cuda()  # LEAK
            out, mu, lv = vae(x)
            terms = losses(out, x, mu, lv)
            opt.zero_grad()
            (terms["rec"] + terms["kl"]).backward()
            opt.step()
            log.add(terms)
        log.end_epoch()
    print(len(log.epochs))


if __name__ == "__main__":
    main()
