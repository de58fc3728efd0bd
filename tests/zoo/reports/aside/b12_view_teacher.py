# Self-distillation from two views without labels: a student, a teacher that follows it slowly, and a centre of the
# teacher's outputs that is subtracted from them (as in DINO).
#
# leaky: the centre's moving average takes the teacher's output as it is; nobody told the teacher not to record a
#        graph, so the centre has the graphs of all batches.
# fixed: it takes the output detached.
#
# usage: b12_view_teacher.py leaky|fixed [--steps N]
import copy
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

variant = sys.argv[1]
steps = int(sys.argv[3]) if "--steps" in sys.argv else 180
torch.manual_seed(0)
torch.set_num_threads(1)


class Centre:
    def __init__(self, dim, momentum=0.9):
        self.value, self.momentum = torch.zeros(1, dim), momentum

    def update(self, out):
        batch = out.mean(0, keepdim=True)
        self.value = self.value * self.momentum + batch * (1 - self.momentum)  # HELD


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 5, stride=2)
        self.conv2 = nn.Conv2d(12, 32, 3, stride=2)
        self.head = nn.Sequential(nn.Linear(32 * 36, 320), nn.GELU(), nn.Linear(320, dim))

    def forward(self, x):
        x = F.relu(self.conv1(x))  # LEAK
        x = F.relu(self.conv2(x))
        return self.head(x.flatten(1))


def views(n):
    base = torch.rand(n, 1, 8, 8).repeat_interleave(4, 2).repeat_interleave(4, 3)
    return [(base + 0.2 * torch.randn(n, 1, 32, 32)).roll(int(torch.randint(-2, 3, ())), 3) for _ in range(2)]


student = Encoder()
teacher = copy.deepcopy(student)
centre = Centre(64)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
for step in range(steps):
    a, b = views(8)
    s = student(torch.cat((a, b)))
    t = teacher(torch.cat((b, a)))
    target = F.softmax((t - centre.value) / 0.04, 1).detach()
    loss = -(target * F.log_softmax(s / 0.1, 1)).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, q in zip(teacher.parameters(), student.parameters()):
            p.lerp_(q, 0.004)
    centre.update(t.detach() if variant == "fixed" else t)
print("steps %d, loss %.4f, centre %.4f" % (steps, loss.item(), centre.value.norm().item()))
