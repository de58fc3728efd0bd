"""Progressive growing of a GAN: 4, 8, 16, 32 pixels; at the last size for more than half of the run."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self, z=16, c=16):
        super().__init__()
        self.first = nn.ConvTranspose2d(z, c, 4)
        self.blocks = nn.ModuleList()
        self.to_rgb = nn.Conv2d(c, 3, 1)
        self.c = c

    def grow(self):
        self.blocks.append(nn.Conv2d(self.c, self.c, 3, padding=1))

    def forward(self, z):
        x = F.leaky_relu(self.first(z[:, :, None, None]), 0.2)
        for b in self.blocks:
            x = F.leaky_relu(b(F.interpolate(x, scale_factor=2)), 0.2)
        return torch.tanh(self.to_rgb(x))


class Critic(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.from_rgb = nn.Conv2d(3, c, 1)
        self.blocks = nn.ModuleList()
        self.last = nn.Conv2d(c, 1, 4)
        self.c = c

    def grow(self):
        self.blocks.insert(0, nn.Conv2d(self.c, self.c, 3, padding=1))

    def forward(self, x):
        x = F.leaky_relu(self.from_rgb(x), 0.2)
        for b in self.blocks:
            x = F.avg_pool2d(F.leaky_relu(b(x), 0.2), 2)
        return self.last(x).flatten()


def optimizers(g, d):
    return torch.optim.Adam(g.parameters(), 1e-3, (0, 0.99)), torch.optim.Adam(d.parameters(), 1e-3, (0, 0.99))


torch.manual_seed(3)
gen = torch.Generator().manual_seed(3)
G, D = Generator(), Critic()
og, od = optimizers(G, D)
steps = 0
for size, n in ((4, 12), (8, 12), (16, 12), (32, 54)):
    if size > 4:
        G.grow()
        D.grow()
        og, od = optimizers(G, D)
    for _ in range(n):
        real = F.interpolate(torch.rand(6, 3, 4, 4, generator=gen) * 2 - 1, size=size)
        z = torch.randn(6, 16, generator=gen)
        fake = G(z)
        loss_d = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
        od.zero_grad()
        loss_d.backward()
        od.step()
        loss_g = F.softplus(-D(fake)).mean()
        og.zero_grad()
        loss_g.backward()
        og.step()
        steps += 1
print("steps %d, %d pixels, D %.3f G %.3f" % (steps, size, loss_d.item(), loss_g.item()))
