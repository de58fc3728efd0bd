"""A small training on the CPU, as people write them, whose samples are changed in place and so stay.

usage: small_training.py THREADS; prints the loop's seconds: wall, and CPU of all threads."""
import sys
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES, BATCH, EPOCHS, SIDE, MASK, INSTANCES = 400, 8, 3, 64, 128, 4


class Scenes(Dataset):
    """Images made on the fly, with annotations that are kept."""

    def __init__(self):
        self.annotations = [{"boxes": [[0, 0, 1, 1]] * INSTANCES, "masks": [(i, k) for k in range(INSTANCES)]}
                            for i in range(SAMPLES)]

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        return np.random.randint(0, 255, (SIDE, SIDE, 3), dtype=np.uint8), self.annotations[i]


def decode(mask):
    if isinstance(mask, tuple):
        return np.random.randint(0, 2, (MASK, MASK), dtype=np.uint8)
    return mask.numpy()


def collate(batch):
    images, targets = [], []
    for image, target in batch:
        images.append(torch.from_numpy(image).permute(2, 0, 1).float() / 255)
        target["boxes"] = torch.as_tensor(target["boxes"], dtype=torch.float)
        target["masks"] = torch.from_numpy(np.stack([decode(mask) for mask in target["masks"]]))
        targets.append(target)
    return torch.stack(images), targets


def main():
    torch.manual_seed(0)
    torch.set_num_threads(int(sys.argv[1]))
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loader = DataLoader(Scenes(), batch_size=BATCH, shuffle=True, collate_fn=collate)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(EPOCHS):
        for images, targets in loader:
            loss = (net(images) - torch.stack([target["boxes"][0] for target in targets])).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("%.4f %.4f" % (time.perf_counter() - wall, time.process_time() - cpu))


main()
