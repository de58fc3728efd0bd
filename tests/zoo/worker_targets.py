"""Key point detection whose workers keep what they have sent: the collate function draws a target for each sample and
puts it into the data set's own dict. On its way to the trainer the tensor moves to shared memory, in the queue's
thread, and the dict has that from then on. Modelled on collate functions of PointGroup and of detection code bases
that write into what __getitem__ returns.

leaky: the collate function writes into the data set's dicts.
fixed: it writes into copies.

usage: worker_targets.py leaky|fixed [--epochs N] [--samples N] [--workers N] [--once]"""
import argparse

import torch
from torch.utils.data import DataLoader, Dataset

SIDE, BATCH, POINTS = 48, 8, 6


class Poses(Dataset):
    def __init__(self, n):
        generator = torch.Generator().manual_seed(0)
        self.samples = [{"points": torch.rand(POINTS, 2, generator=generator).tolist()} for _ in range(n)]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


def heat_of(points):
    at = torch.arange(SIDE) / SIDE
    near = [((at[:, None] - y) ** 2 + (at[None, :] - x) ** 2).mul(-200) for x, y in points]
    return torch.stack(near).exp()  # LEAK


class Collate:
    def __init__(self, copies):
        self.copies = copies

    def __call__(self, batch):
        batch = [dict(sample) for sample in batch] if self.copies else batch
        for sample in batch:
            sample["heat"] = heat_of(sample["points"])
        return torch.stack([sample["heat"].amax(0, keepdim=True) for sample in batch]), batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--once", action="store_true", help="workers live for one epoch")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Poses(args.samples), batch_size=BATCH, shuffle=True, num_workers=args.workers,
                        collate_fn=Collate(args.variant == "fixed"), persistent_workers=not args.once)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, POINTS, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for images, samples in loader:
            heat = torch.stack([sample["heat"] for sample in samples])
            loss = torch.nn.functional.mse_loss(net(images), heat)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)


if __name__ == "__main__":
    main()
