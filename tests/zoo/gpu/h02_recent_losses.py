# A classifier whose recent outputs are kept for a moving confusion summary (deque with a bound)
import collections
import sys

import torch

dev = sys.argv[1] if len(sys.argv) > 1 else "cuda"
recent = collections.deque(maxlen=25)
model = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1000)).to(dev)
optim = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.StepLR(optim, 50)
log = []
for it in range(180):
    x = torch.randn(64, 128, device=dev)
    y = torch.randint(0, 1000, (64,)).to(dev)
    out = model(x)
    loss = torch.nn.functional.cross_entropy(out, y)
    optim.zero_grad(set_to_none=True)
    loss.backward()
    optim.step()
    sched.step()
    recent.append((out.detach(), y))
    log.append(loss.item())
    if it % 25 == 24:
        hits = torch.cat([o.argmax(1) == t for o, t in recent]).float().mean()
        print(it, "window", len(recent), "hits", tuple(hits.shape))
