# Streaming classification from record shards, two loader workers, each with its own shuffle window.
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

SWAP_POP = "--swap-pop" in sys.argv
STEPS = 240


def make_shards(root):
    rng = np.random.RandomState(11)
    for s in range(8):
        labels = rng.randint(0, 6, 150).astype(np.uint8)
        pixels = rng.randint(0, 80, (150, 3, 40, 40)).astype(np.uint8)
        for y, p in zip(labels, pixels):
            p[y % 3, :, 6 * (y // 3):6 * (y // 3) + 18] += 120
        with open(root / f"part-{s:02d}.rec", "wb") as f:
            for y, p in zip(labels, pixels):
                f.write(bytes([y]) + p.tobytes())


class Records(IterableDataset):
    def __init__(self, root, window=128):
        self.files = sorted(root.glob("*.rec"))
        self.window = window

    def _decode(self, rec):
        img = np.frombuffer(rec, np.uint8, offset=1).reshape(3, 40, 40).astype(np.float32)  # LEAK
        img /= 255.0
        return img, int(rec[0])

    def _read(self):
        info = get_worker_info()
        files = self.files[info.id::info.num_workers] if info else self.files
        while True:
            for path in files:
                with open(path, "rb") as f:
                    while True:
                        rec = f.read(1 + 3 * 40 * 40)
                        if not rec:
                            break
                        yield self._decode(rec)

    def __iter__(self):
        info = get_worker_info()
        rng = random.Random(100 + (info.id if info else 0))
        window = []
        for sample in self._read():
            window.append(sample)  # HELD
            if len(window) < self.window:
                continue
            k = rng.randrange(len(window))
            if SWAP_POP:
                window[k], window[-1] = window[-1], window[k]
                yield window.pop()
            else:
                yield window[k]


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as tmp:
        make_shards(Path(tmp))
        loader = DataLoader(Records(Path(tmp)), batch_size=12, num_workers=2)
        model = nn.Sequential(nn.Conv2d(3, 10, 5, stride=3), nn.ReLU(), nn.Conv2d(10, 16, 3, stride=2), nn.ReLU(),
                              nn.Flatten(), nn.LazyLinear(6))
        model(torch.zeros(1, 3, 40, 40))
        opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
        right = 0
        it = iter(loader)
        for step in range(STEPS):
            x, y = next(it)
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            right += (out.argmax(1) == y).sum().item()
        print(f"{STEPS} steps, last loss {loss.item():.3f}, running accuracy {right / (STEPS * 12):.3f}")


if __name__ == "__main__":
    main()
