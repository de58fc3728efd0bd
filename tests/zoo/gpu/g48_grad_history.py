"""Measures how gradients of tasks conflict: those of the last layers are kept for an analysis after the run."""
import torch, argparse
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--cosine-only", action="store_true")
cfg = parser.parse_args()

trunk = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()).cuda()
heads = nn.ModuleList([nn.Linear(256, 10) for _ in range(3)]).cuda()
params = list(trunk.parameters()) + list(heads.parameters())
optimizer = torch.optim.RMSprop(params, lr=1e-4)
history = {"task%d" % i: [] for i in range(3)}
previous = {}

for iteration in range(200):
    x = torch.randn(64, 128, device="cuda")
    h = trunk(x)
    total = 0
    for i, head in enumerate(heads):
        task_loss = head(h).pow(2).mean()
        g = torch.autograd.grad(task_loss, trunk[2].weight, retain_graph=True)[0]  # LEAK
        if cfg.cosine_only:
            last = previous.get(i, g)
            history["task%d" % i].append(torch.cosine_similarity(g.flatten(), last.flatten(), dim=0).item())
            previous[i] = g
        else:
            history["task%d" % i].append(g)  # HELD
        total = total + task_loss
    optimizer.zero_grad()
    total.backward()
    optimizer.step()

print({k: len(v) for k, v in history.items()})
