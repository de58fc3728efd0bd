"""Two-domain translation, one direction: generator, discriminator, and the usual pool of earlier fakes for D."""
import argparse
import random

import torch
import torch.nn as nn


class ImagePool:
    """Returns a mixture of new images and images made earlier."""

    def __init__(self, pool_size, counting):
        self.pool_size = pool_size
        self.num_imgs = 0
        self.images = []
        self.counting = counting

    def query(self, images):
        result = []
        for image in images:
            image = image.detach().unsqueeze(0).clone()  # LEAK
            if self.num_imgs < self.pool_size:
                if self.counting:
                    self.num_imgs += 1
                self.images.append(image)  # HELD
                result.append(image)
            elif random.random() > 0.5:
                k = random.randint(0, self.pool_size - 1)
                result.append(self.images[k])
                self.images[k] = image
            else:
                result.append(image)
        return torch.cat(result, 0)


class Options:
    def __init__(self):
        p = argparse.ArgumentParser()
        p.add_argument("--n_iters", type=int, default=130)
        p.add_argument("--pool_size", type=int, default=50)
        p.add_argument("--batch", type=int, default=6)
        p.add_argument("--pool_counts", type=int, default=0)
        p.parse_args(namespace=self)


def conv(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride=s, padding=1), nn.LeakyReLU(0.2))


def synth(n, gen, kind):
    x = torch.rand(n, 3, 32, 32, generator=gen)
    return x * torch.tensor([1.0, 0.4, 0.4] if kind else [0.4, 0.4, 1.0]).view(1, 3, 1, 1)


opt = Options()
random.seed(0)
torch.manual_seed(0)
gen = torch.Generator().manual_seed(5)
G = nn.Sequential(conv(3, 12), conv(12, 12), nn.Conv2d(12, 3, 1), nn.Sigmoid())
D = nn.Sequential(conv(3, 12, 2), conv(12, 24, 2), nn.Conv2d(24, 1, 3))
optG = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
optD = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
mse = nn.MSELoss()
fake_pool = ImagePool(opt.pool_size, opt.pool_counts)

for it in range(opt.n_iters):
    real_a, real_b = synth(opt.batch, gen, 0), synth(opt.batch, gen, 1)
    fake_b = G(real_a)
    pred = D(fake_b)
    loss_g = mse(pred, torch.ones_like(pred)) + 10 * (fake_b.mean((2, 3)) - real_b.mean((2, 3))).abs().mean()
    optG.zero_grad()
    loss_g.backward()
    optG.step()

    old = fake_pool.query(fake_b)
    pr, pf = D(real_b), D(old)
    loss_d = 0.5 * (mse(pr, torch.ones_like(pr)) + mse(pf, torch.zeros_like(pf)))
    optD.zero_grad()
    loss_d.backward()
    optD.step()
print("iters %d G %.3f D %.3f" % (opt.n_iters, loss_g.item(), loss_d.item()))
