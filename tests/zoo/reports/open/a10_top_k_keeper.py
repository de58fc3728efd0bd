"""Keeps the three best states in memory and an averaged model; restores the best at the end."""
import copy
import heapq
import itertools

import torch
import torch.nn as nn


class TopK:
    def __init__(self, k):
        self.k, self.heap, self.tie = k, [], itertools.count()

    def offer(self, score, model):
        if len(self.heap) < self.k or score > self.heap[0][0]:
            state = {n: t.clone() for n, t in model.state_dict().items()}
            heapq.heappush(self.heap, (score, next(self.tie), state))
            if len(self.heap) > self.k:
                heapq.heappop(self.heap)

    def best(self):
        return max(self.heap)[2]


class Averaged:
    def __init__(self, model, decay):
        self.model, self.decay = copy.deepcopy(model).eval(), decay

    @torch.no_grad()
    def update(self, model):
        for a, b in zip(self.model.state_dict().values(), model.state_dict().values()):
            a.mul_(self.decay).add_(b, alpha=1 - self.decay)


class Task:
    def __init__(self):
        self.gen = torch.Generator().manual_seed(0)
        self.w = torch.randn(6000, generator=self.gen)

    def batch(self, n=48):
        x = torch.randint(6000, (n, 12), generator=self.gen)
        return x, (self.w[x].sum(1) > 0).float()


torch.manual_seed(1)
task = Task()
net = nn.Sequential(nn.EmbeddingBag(6000, 32), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
avg, keep = Averaged(net, 0.97), TopK(3)
opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
valid = task.batch(256)
for step in range(1, 301):
    x, y = task.batch()
    loss = nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg.update(net)
    if step % 10 == 0:
        with torch.no_grad():
            acc = ((avg.model(valid[0]).squeeze(1) > 0) == (valid[1] > 0)).float().mean().item()
        keep.offer(acc, net)
net.load_state_dict(keep.best())
print("best", ["%.3f" % s for s, _, _ in sorted(keep.heap, key=lambda t: -t[0])])
