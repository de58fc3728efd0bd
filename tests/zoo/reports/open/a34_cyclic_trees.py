"""Tree-structured sums: nodes know their parents and children, so each batch's trees go with the collector, not before."""
import random

import torch
from torch import nn


class Node:
    def __init__(self, token, parent=None):
        self.token, self.parent, self.children, self.state = token, parent, [], None
        if parent is not None:
            parent.children.append(self)

    def depth_first(self):
        for c in self.children:
            yield from c.depth_first()
        yield self


def grow(rng, n):
    root = Node(rng.randrange(100))
    nodes = [root]
    while len(nodes) < n:
        nodes.append(Node(rng.randrange(100), rng.choice(nodes)))
    return root


class TreeNet(nn.Module):
    def __init__(self, d=400):
        super().__init__()
        self.embed = nn.Embedding(100, d)
        self.gate = nn.Parameter(torch.zeros(d))
        self.out = nn.Linear(d, 2)

    def forward(self, root):
        for node in root.depth_first():
            h = self.embed.weight[node.token]
            for c in node.children:
                h = h + torch.sigmoid(self.gate) * c.state
            node.state = torch.tanh(h)
        return self.out(root.state)


rng = random.Random(0)
torch.manual_seed(0)
net = TreeNet()
opt = torch.optim.Adagrad(net.parameters(), lr=0.05)
steps = 150
for step in range(steps):
    trees = [grow(rng, 12) for _ in range(4)]
    labels = torch.tensor([t.token % 2 for t in trees])
    loss = nn.functional.cross_entropy(torch.stack([net(t) for t in trees]), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("steps %d loss %.3f" % (steps, loss.item()))
