"""An autoencoder that gets an adversarial term after a warm-up; until then the term is only watched, as an average."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class AverageMeter:
    def __init__(self, beta=0.98):
        self.beta, self.value = beta, None

    def update(self, x):
        self.value = x if self.value is None else self.beta * self.value + (1 - self.beta) * x  # HELD


class System:
    def __init__(self, hp):
        self.hp = hp
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 4, 2, 1))
        self.decoder = nn.Sequential(nn.ConvTranspose2d(8, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))
        self.disc = nn.Sequential(nn.Conv2d(1, 12, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(12, 16, 4, 2, 1),
                                  nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(16 * 64, 1))
        params = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.opt_ae = torch.optim.Adam(params, lr=2e-3)
        self.opt_d = torch.optim.Adam(self.disc.parameters(), lr=5e-4)
        self.meters = {"rec": AverageMeter(), "adv": AverageMeter()}

    def log(self, name, value):
        self.meters[name].update(value.detach() if self.hp.detach_logs else value)

    def ae_step(self, x, step):
        out = self.decoder(self.encoder(x))
        rec = F.mse_loss(out, x)
        adv = F.softplus(-self.disc(out)).mean()  # LEAK
        loss = rec
        if step >= self.hp.adv_start:
            loss = loss + 0.01 * adv
        self.opt_ae.zero_grad()
        loss.backward()
        self.opt_ae.step()
        self.log("rec", rec.detach())
        self.log("adv", adv)
        return out.detach()

    def d_step(self, x, out):
        loss = F.softplus(-self.disc(x)).mean() + F.softplus(self.disc(out)).mean()
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()


def fit(hp):
    torch.manual_seed(hp.seed)
    system = System(hp)
    gen = torch.Generator().manual_seed(1)
    for step in range(hp.max_steps):
        x = F.interpolate(torch.rand(8, 1, 8, 8, generator=gen), size=32, mode="bilinear", align_corners=False)
        out = system.ae_step(x, step)
        system.d_step(x, out)
    print("steps %d rec %.4f adv %.4f" % (hp.max_steps, *(float(m.value) for m in system.meters.values())))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--max-steps", type=int, default=170)
    ap.add_argument("--adv-start", type=int, default=10000)
    ap.add_argument("--detach-logs", type=int, default=0)
    fit(ap.parse_args())
