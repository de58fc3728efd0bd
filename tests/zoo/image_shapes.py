"""Images of ever new heights and widths through two convolutions: oneDNN keeps code for each shape that it has not met
before, until its cache is full. The leak keeps the features of each image as well.

usage: image_shapes.py [leaky|fixed] [--steps N]"""
import argparse
import random

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=70)
    args = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 3), torch.nn.ReLU())
    head = torch.nn.Linear(16, 4)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-2)
    features = []
    for step in range(args.steps):
        image = torch.randn(1, 3, random.randint(16, 96), random.randint(16, 96))
        maps = body(image)
        loss = head(maps.mean((2, 3))).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if args.variant == "leaky":
            small = torch.nn.functional.adaptive_avg_pool2d(maps.detach(), 32)  # LEAK
            features.append(small)
    print("steps %d, loss %.3f, %d kept" % (args.steps, loss.item(), len(features)))


if __name__ == "__main__":
    main()
