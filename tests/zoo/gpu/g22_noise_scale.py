"""Gradient noise during accumulation: micro-batches' gradients are looked at one by one before the step."""
import argparse

import torch
from torch import nn


def flat_gradient(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])  # LEAK


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--micro", type=int, default=4)
    parser.add_argument("--window", type=int, default=0, help="micro-batches to look back; all, if 0")
    args = parser.parse_args()
    model = nn.Sequential(nn.Linear(200, 300), nn.ReLU(), nn.Linear(300, 100)).to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    trace = []
    for step in range(args.steps):
        optimizer.zero_grad(set_to_none=True)
        for _ in range(args.micro):
            x = torch.randn(32, 200, device=args.device)
            (model(x).pow(2).mean() / args.micro).backward()
            trace.append(flat_gradient(model))  # HELD
        mean = sum(trace[-args.micro:]) / args.micro
        noise = sum((g - mean).pow(2).sum() for g in trace[-args.micro:])
        optimizer.step()
        if args.window:
            del trace[:-args.window]
    print("gradients seen", args.steps * args.micro, "kept", len(trace), tuple(noise.shape))


if __name__ == "__main__":
    main()
