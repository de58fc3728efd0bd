"""Fine-tuning with gradual unfreezing (one more block each epoch), gradient accumulation, and an average from epoch 4."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
ACCUM = 4
WIDTH = 96
blocks = nn.ModuleList([nn.Sequential(nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.GELU()) for _ in range(4)])
head = nn.Linear(WIDTH, 12)
for p in blocks.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3)
ema = None
gen = torch.Generator().manual_seed(2)
rule = torch.randn(WIDTH, 12, generator=gen)
updates = 0
for epoch in range(9):
    if epoch in (1, 2, 3, 4):
        block = blocks[4 - epoch]
        for p in block.parameters():
            p.requires_grad_(True)
        optimizer.add_param_group({"params": list(block.parameters()), "lr": 1e-3 / epoch})
    if epoch == 4:
        ema = copy.deepcopy(nn.ModuleList([blocks, head]))
    for i in range(48):
        x = torch.randn(8, WIDTH, 4, 4, generator=gen)
        h = x
        for b in blocks:
            h = b(h)
        loss = nn.functional.cross_entropy(head(h.mean((2, 3))), (x.mean((2, 3)) @ rule).argmax(1)) / ACCUM
        loss.backward()
        if (i + 1) % ACCUM == 0:
            optimizer.step()
            optimizer.zero_grad()
            updates += 1
            if ema is not None:
                with torch.no_grad():
                    for e, p in zip(ema.parameters(), nn.ModuleList([blocks, head]).parameters()):
                        e.lerp_(p, 0.05)
print("updates %d loss %.3f" % (updates, ACCUM * loss.item()))
