"""Looks for the largest batch that fits, as schedulers of large libraries do, then trains with half of it."""
import argparse
import gc

import torch
from torch import nn


def step(model, opt, batch, device):
    x = torch.zeros(batch, 2048, device=device)
    loss = model(x).mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()


def find_batch(model, opt, device, batch=512):
    while True:
        fits = True
        try:
            step(model, opt, 2 * batch, device)
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            fits = False
        if not fits:
            opt.zero_grad(set_to_none=True)
            gc.collect()
            torch.cuda.empty_cache()
            return batch
        batch *= 2


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=100)
    ap.add_argument("--device-mb", type=int, default=400)
    args = ap.parse_args()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, args.device_mb * (1 << 20) / total))
    model = nn.Sequential(nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 64)).cuda()
    opt = torch.optim.Adam(model.parameters(), lr=1e-4)
    batch = find_batch(model, opt, "cuda") // 2
    for _ in range(args.steps):
        step(model, opt, batch, "cuda")
    print("batch", batch, "steps", args.steps)


if __name__ == "__main__":
    main()
