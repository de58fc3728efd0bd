"""Goes on from a checkpoint, which it drops: the moments of the optimizer are the file's own tensors from then on."""
import argparse
import os
import tempfile

import torch
from torch import nn


def network():
    return nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(700, 700), nn.LayerNorm(700), nn.ReLU())])


def optimizer_of(net, name):
    return torch.optim.SGD(net.parameters(), 1e-2, momentum=0.9) if name == "sgd" else torch.optim.Adam(net.parameters())


def step(net, optimizer):
    optimizer.zero_grad()
    net(torch.randn(32, 700, device="cuda")).pow(2).mean().backward()
    optimizer.step()


def save(path, name):
    net = network().cuda()
    optimizer = optimizer_of(net, name)
    step(net, optimizer)
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, path)


def resume(path, name):
    net = network().cuda()
    optimizer = optimizer_of(net, name)
    state = torch.load(path, map_location="cuda", weights_only=True)
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    return net, optimizer


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--optimizer", default="adam")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "last.pt")
        save(path, args.optimizer)
        net, optimizer = resume(path, args.optimizer)
    for _ in range(100):
        step(net, optimizer)
    print("resumed")


if __name__ == "__main__":
    main()
