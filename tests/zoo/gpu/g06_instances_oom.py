"""Instance segmentation of point clouds: proposals of each scene get a score by pooled features. The number of points
differs from scene to scene; the last few scenes' backbone features are kept for a consistency loss."""
import argparse
import collections
import os
import sys


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--scenes", type=int, default=160)
    ap.add_argument("--device-mb", type=int, default=200, help="a smaller card than the one this runs on")
    ap.add_argument("--alloc-conf", help="for PYTORCH_CUDA_ALLOC_CONF")
    return ap.parse_args()


ARGS = parse()
if ARGS.alloc_conf:
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = ARGS.alloc_conf

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 32)
        self.b = nn.Linear(32, 32)

    def forward(self, points):
        hidden = torch.relu(self.a(points))  # LEAK
        return torch.relu(self.b(hidden))  # LEAK


def restrict(megabytes):
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, megabytes * (1 << 20) / total))


def main():
    rng = np.random.default_rng(4)
    if ARGS.device == "cuda":
        restrict(ARGS.device_mb)
    backbone, score = Backbone().to(ARGS.device), nn.Linear(32, 2).to(ARGS.device)
    optimizer = torch.optim.Adam([*backbone.parameters(), *score.parameters()], lr=1e-3)
    recent = collections.deque(maxlen=24)
    for scene in range(ARGS.scenes):
        largest = 40_000 + 1_000 * scene
        points = torch.rand(int(rng.integers(20_000, largest)), 6, device=ARGS.device)  # LEAK
        feats = backbone(points)
        proposals = feats[:len(feats) // 8 * 8].view(-1, 8, 32).mean(1)
        loss = score(proposals).pow(2).mean()
        if recent:
            n = min(len(recent[-1]), len(proposals))
            loss = loss + (proposals[:n] - recent[-1][:n]).pow(2).mean()
        recent.append(feats.detach()[: len(feats) // 4].clone())  # LEAK HELD
        optimizer.zero_grad()
        loss.backward()  # LEAK
        optimizer.step()
    print("all scenes", scene + 1)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        print("stopped:", str(error).splitlines()[0][:160])
        sys.exit(1)
