"""Distillation on two devices; each process takes the teacher out of a file as a whole."""
import os
import sys
import tempfile

import torch
import torch.multiprocessing as mp
from torch import nn


def make(width):
    return nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 100))


def distil(rank, path, fix):
    dev = torch.device("cuda:%d" % rank)
    if fix:
        teacher = torch.load(path, map_location=dev, weights_only=False)
    else:
        teacher = torch.load(path, weights_only=False)  # LEAK HELD
    student = make(200).to(dev)
    opt = torch.optim.AdamW(student.parameters(), 1e-3)
    home = next(teacher.parameters()).device
    for _ in range(130):
        x = torch.randn(64, 256)
        with torch.no_grad():
            soft = teacher(x.to(home)).softmax(1).to(dev)
        loss = nn.functional.kl_div(student(x.to(dev)).log_softmax(1), soft, reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("rank", rank)


if __name__ == "__main__":
    mp.set_start_method("spawn")
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "teacher.pt")
        torch.save(make(1500).to("cuda:0"), path)
        ps = [mp.Process(target=distil, args=(r, path, "--fix" in sys.argv)) for r in range(2)]
        for p in ps:
            p.start()
        for p in ps:
            p.join()
