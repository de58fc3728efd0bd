"""An autoencoder that logs its reconstructions to a summary writer of the project's own. The writer holds all
events until close(), images and all, and writes them then: memory climbs by a grid of images every time one is
logged. The fix flushes to the events file after every tenth image and drops what it has written.

usage: logger_images.py [leaky|fixed] [--steps N]"""
import argparse
import os
import struct
import tempfile

import torch
import torch.nn.functional as F

SIDE = 48
BATCH = 16
SHOWN = 8


class SummaryWriter(object):
    """Scalars and images as (tag, step, kind, bytes), in one file."""

    def __init__(self, folder, flush_every=None):
        self.path = os.path.join(folder, "events.log")
        self.flush_every = flush_every
        self.events = []

    def add_scalar(self, tag, value, step):
        self.events.append((tag, step, "scalar", struct.pack("<d", value)))

    def add_images(self, tag, images, step):
        """A grid with the images side by side, as 8-bit pixels."""
        grid = torch.cat(list(images), dim=2).mul(255).clamp(0, 255).byte()
        pixels = grid.permute(1, 2, 0).contiguous().numpy().tobytes()  # LEAK
        self.events.append((tag, step, "image", pixels))
        if self.flush_every and step % self.flush_every == 0:
            self.flush()

    def flush(self):
        with open(self.path, "ab") as f:
            for tag, step, kind, value in self.events:
                head = ("%s %d %s" % (tag, step, kind)).encode()
                f.write(struct.pack("<II", len(head), len(value)) + head + value)
        self.events = []

    def close(self):
        self.flush()
        return os.path.getsize(self.path)


class Autoencoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 4, stride=4), torch.nn.ReLU(),
                                           torch.nn.Conv2d(8, 16, 2, stride=2), torch.nn.ReLU())
        self.decoder = torch.nn.Sequential(torch.nn.ConvTranspose2d(16, 8, 2, stride=2), torch.nn.ReLU(),
                                           torch.nn.ConvTranspose2d(8, 3, 4, stride=4), torch.nn.Sigmoid())

    def forward(self, images):
        return self.decoder(self.encoder(images))


def gradients(n):
    """Images of slow colour gradients."""
    corners = torch.rand(n, 3, 2, 2)
    return F.interpolate(corners, size=(SIDE, SIDE), mode="bilinear", align_corners=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=240)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Autoencoder()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    with tempfile.TemporaryDirectory() as folder:
        writer = SummaryWriter(folder, flush_every=None if args.variant == "leaky" else 10)
        for step in range(args.steps):
            images = gradients(BATCH)
            output = net(images)
            loss = F.mse_loss(output, images)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            writer.add_scalar("loss", loss.item(), step)
            writer.add_images("reconstruction", output.detach()[:SHOWN], step)
            if (step + 1) % 80 == 0:
                print("step %d: loss %.4f" % (step + 1, loss.item()), flush=True)
        print("steps %d, %d bytes of events" % (args.steps, writer.close()))


if __name__ == "__main__":
    main()
