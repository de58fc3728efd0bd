"""A GAN with feature matching; its errors are printed every fifty iterations from lists."""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(300, 256), nn.LeakyReLU(0.2), nn.Linear(256, 128), nn.LeakyReLU(0.2))
        self.last = nn.Linear(128, 1)

    def forward(self, x):
        f = self.features(x)  # LEAK
        return self.last(f), f  # LEAK


def mean(values):
    return sum(float(v) for v in values) / max(1, len(values))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--fix", action="store_true")
    opt = ap.parse_args()
    netG = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 300)).cuda()
    netD = D().cuda()
    optG, optD = optim.Adam(netG.parameters(), 2e-4), optim.Adam(netD.parameters(), 2e-4)
    G_losses, D_losses, matching = [], [], []
    for i in range(220):
        real = torch.randn(64, 300).cuda()  # LEAK
        fake = netG(torch.randn(64, 64, device="cuda"))  # LEAK
        real_out, real_f = netD(real)
        errD = (nn.functional.softplus(-real_out) + nn.functional.softplus(netD(fake.detach())[0])).mean()
        optD.zero_grad()
        errD.backward()
        optD.step()
        fake_out, fake_f = netD(fake)
        errG = nn.functional.softplus(-fake_out).mean()
        fm = (fake_f.mean(0) - real_f.detach().mean(0)).abs().sum()  # LEAK
        optG.zero_grad()
        errG.backward(retain_graph=True)
        optG.step()
        G_losses.append(errG.item())
        D_losses.append(errD.item())
        matching.append(fm.item() if opt.fix else fm)  # HELD
        if i % 50 == 0:
            print(i, mean(G_losses[-50:]), len(matching))
