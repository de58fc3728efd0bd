"""Mean teacher: the teacher's weights follow the student's, in place and without a graph."""
import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


@torch.no_grad()
def follow(teacher, student, alpha):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(alpha).add_(s, alpha=1 - alpha)
    for t, s in zip(teacher.buffers(), student.buffers()):
        t.copy_(s)


def network():
    return nn.Sequential(nn.Linear(100, 400), nn.BatchNorm1d(400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(),
                         nn.Linear(400, 10))


def main(device="cuda", epochs=5, steps=30):
    student = network().to(device)
    teacher = copy.deepcopy(student).requires_grad_(False).eval()
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    best = None
    for epoch in range(epochs):
        for _ in range(steps):
            x = torch.randn(64, 100, device=device)
            with torch.no_grad():
                soft = F.softmax(teacher(x), dim=1)
            logits = student(x + 0.1 * torch.randn_like(x))
            loss = F.kl_div(F.log_softmax(logits, dim=1), soft, reduction="batchmean") + F.mse_loss(logits, soft)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(student.parameters(), 1.0)
            optimizer.step()
            follow(teacher, student, 0.99)
        best = {k: v.detach().clone() for k, v in teacher.state_dict().items()}
    print("epochs", epochs, "tensors in the best teacher", len(best))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cuda")
    main(p.parse_args().device)
