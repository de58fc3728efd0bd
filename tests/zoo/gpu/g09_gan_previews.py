import argparse

import torch
import torch.nn as nn

torch.backends.cudnn.enabled = False

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
parser.add_argument("--n_batches", type=int, default=100)
parser.add_argument("--latent_dim", type=int, default=64)
parser.add_argument("--sample_interval", type=int, default=4)
parser.add_argument("--detach", action="store_true", help="only the last preview, without its history")
opt = parser.parse_args()
print(opt)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.l1 = nn.Linear(opt.latent_dim, 32 * 7 * 7)
        self.blocks = nn.Sequential(nn.BatchNorm2d(32), nn.Upsample(scale_factor=2), nn.Conv2d(32, 16, 3, padding=1),
                                    nn.LeakyReLU(0.2), nn.Upsample(scale_factor=2), nn.Conv2d(16, 1, 3, padding=1),
                                    nn.Tanh())

    def forward(self, z):
        out = self.l1(z).view(z.shape[0], 32, 7, 7)
        return self.blocks(out)  # LEAK


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))

    def forward(self, img):
        return self.model(img.view(img.size(0), -1))


generator, discriminator = Generator().to(opt.device), Discriminator().to(opt.device)
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
previews = []

for i in range(opt.n_batches):
    real = torch.rand(32, 1, 28, 28).to(opt.device)
    valid, fake = torch.ones(32, 1, device=opt.device), torch.zeros(32, 1, device=opt.device)

    optimizer_G.zero_grad()
    gen_imgs = generator(torch.randn(32, opt.latent_dim, device=opt.device))
    g_loss = bce(discriminator(gen_imgs), valid)
    g_loss.backward(retain_graph=True)
    optimizer_G.step()

    optimizer_D.zero_grad()
    d_loss = (bce(discriminator(real), valid) + bce(discriminator(gen_imgs.detach()), fake)) / 2
    d_loss.backward()
    optimizer_D.step()

    if i % opt.sample_interval == 0:
        previews[:] = [gen_imgs[:25].detach().cpu()] if opt.detach else previews + [gen_imgs[:25]]  # HELD

print("[%d batches] [%d previews]" % (opt.n_batches, len(previews)))
