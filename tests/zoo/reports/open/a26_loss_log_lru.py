"""Regression on rendered tiles; the renderer has an LRU cache of 64 entries, and losses are noted as numbers."""
from functools import lru_cache

import numpy as np
import torch


@lru_cache(maxsize=64)
def render(tile):
    rng = np.random.default_rng(tile)
    img = rng.random((3, 56, 56), dtype=np.float32)
    img[:, : 5 + tile % 40] *= 0.2
    return img


torch.manual_seed(0)
rng = np.random.default_rng(1)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 10, 5, stride=3), torch.nn.ReLU(), torch.nn.Conv2d(10, 10, 3, stride=2),
                          torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(10 * 64, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
log = {"loss": [], "lr": [], "tiles": []}
for step in range(320):
    tiles = rng.integers(0, 500, 12)
    x = torch.from_numpy(np.stack([render(int(t)) for t in tiles]))
    y = torch.tensor([(int(t) % 40) / 40 for t in tiles])
    loss = torch.nn.functional.mse_loss(net(x).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    log["loss"].append(loss.item())
    log["lr"].append(opt.param_groups[0]["lr"])
    log["tiles"].append(tuple(tiles.tolist()))
print("steps", len(log["loss"]), "loss %.4f" % np.mean(log["loss"][-20:]), render.cache_info())
