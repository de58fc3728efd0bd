"""Video clips, decoded in two persistent workers with an LRU of 48 decoded clips each."""
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.utils.data as data


class LRU:
    def __init__(self, fn, size):
        self.fn, self.size, self.items = fn, size, OrderedDict()

    def __call__(self, key):
        if key in self.items:
            self.items.move_to_end(key)
            return self.items[key]
        value = self.items[key] = self.fn(key)
        if len(self.items) > self.size:
            self.items.popitem(last=False)
        return value


def decode(clip_id):
    r = np.random.RandomState(clip_id)
    speed = clip_id % 4
    frames = np.zeros((8, 3, 32, 32), np.float32)
    at = r.randint(0, 8)
    for t in range(8):
        frames[t, :, :, (at + speed * t) % 32] = 1
    return frames + 0.1 * r.randn(*frames.shape).astype(np.float32)


class Clips(data.Dataset):
    def __init__(self, n):
        self.n = n
        self.load = LRU(decode, 48)

    def __len__(self):
        return self.n * 2

    def __getitem__(self, i):
        frames = self.load(i // 2)
        start = 4 * (i % 2)
        return torch.from_numpy(frames[start:start + 4].reshape(12, 32, 32)), (i // 2) % 4


torch.manual_seed(1)
torch.set_num_threads(1)
train = data.DataLoader(Clips(160), batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
model = nn.Sequential(nn.Conv2d(12, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2), nn.ReLU(),
                      nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
if __name__ == "__main__":
    for epoch in range(4):
        running = 0.0
        for clips, labels in train:
            loss = nn.functional.cross_entropy(model(clips), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        print("epoch %d loss %.3f" % (epoch, running / len(train)), flush=True)
