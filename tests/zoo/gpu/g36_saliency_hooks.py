"""Saliency maps of a network without training: a hook is registered for each image, and never removed."""
import argparse
import time

import torch
from torch import nn

torch.backends.cudnn.enabled = False


class Saliency:
    def __init__(self, net, remove):
        self.net, self.remove, self.seen = net, remove, []

    def keep(self, module, inputs, output):
        self.seen.append(output)  # HELD

    def __call__(self, image):
        handle = self.net[2].register_forward_hook(self.keep)
        score = self.net(image).max()  # LEAK
        score.backward()
        kept = self.seen[-1].detach().mean(1).cpu()
        if self.remove:
            handle.remove()
            self.seen.clear()
        return kept


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--images", type=int, default=60)
    ap.add_argument("--remove", action="store_true")
    args = ap.parse_args()
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).cuda()
    saliency = Saliency(net, args.remove)
    for n in range(args.images):
        time.sleep(0.1)  # an image is read
        saliency(torch.rand(1, 3, 64, 64).cuda().requires_grad_())
    print("maps", args.images, "kept", len(saliency.seen))


if __name__ == "__main__":
    main()
