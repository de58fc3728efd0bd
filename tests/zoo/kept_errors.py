"""Pictures of which some cannot be read: the loader goes on with a blank one and keeps what went wrong for a summary. An
exception keeps its traceback, that the frames, and those the batch that was being put together; the fix keeps the
words alone.

usage: kept_errors.py [leaky|fixed] [--epochs N]"""
import argparse

import torch
from torch.utils.data import DataLoader, Dataset

SIDE, BATCH, PICTURES = 64, 16, 640


class Pictures(Dataset):
    def __init__(self, variant):
        self.variant, self.errors = variant, []

    def __len__(self):
        return PICTURES

    def decode(self, i):
        pixels = torch.rand(3, SIDE, SIDE)  # LEAK
        if i % BATCH == BATCH - 1:
            raise ValueError("picture %d is damaged" % i)
        return pixels

    def __getitem__(self, i):
        try:
            return self.decode(i)
        except ValueError as error:
            self.errors.append(error if self.variant == "leaky" else str(error))
            return torch.zeros(3, SIDE, SIDE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    pictures = Pictures(args.variant)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=4), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(8 * 16 * 16, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        for batch in DataLoader(pictures, batch_size=BATCH):  # LEAK
            loss = net(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d: loss %.4f, %d pictures were damaged" % (epoch, float(loss), len(pictures.errors)))
    print("steps %d" % (args.epochs * PICTURES // BATCH))


if __name__ == "__main__":
    main()
