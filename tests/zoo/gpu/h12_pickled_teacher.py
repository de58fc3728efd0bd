"""Distils a network of the same kind, which comes from a file as a whole, and from which the student begins."""
import os
import tempfile

import torch
from torch import nn


def network():
    return nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512))


def main(steps=80):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "teacher.pt")
        torch.save(network().cuda(), path)
        teacher = torch.load(path, weights_only=False).eval()
    student = network().cuda()
    student.load_state_dict(teacher.state_dict())
    optimizer = torch.optim.SGD(student.parameters(), lr=1e-3)
    for _ in range(steps):
        x = torch.randn(32, 512, device="cuda")
        with torch.no_grad():
            target = teacher(x)
        loss = (student(x) - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps", steps)


if __name__ == "__main__":
    main()
