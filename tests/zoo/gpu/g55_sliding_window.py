"""Denoises volumes; for a whole volume patches are predicted one by one, and put together at the end."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.backends.cudnn.enabled = False


class Patches(Dataset):
    def __len__(self):
        return 90

    def __getitem__(self, i):
        return torch.rand(1, 16, 24, 24)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv3d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv3d(6, 8, 3, padding=1))

    def forward(self, x):
        return self.body(x)  # LEAK


@torch.inference_mode()
def predict_volume(net, volume, to_host):
    parts = []
    for z in range(0, volume.shape[2] - 15, 8):
        for y in range(0, volume.shape[3] - 23, 12):
            out = net(volume[:, :, z:z + 16, y:y + 24, :24].cuda())
            parts.append(out.cpu() if to_host else out)  # HELD
    return torch.stack(parts).mean(0).cpu()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--fix", action="store_true")
    args = ap.parse_args()
    net = Net().cuda()
    opt = torch.optim.Adam(net.parameters())
    volume = torch.rand(1, 1, 96, 96, 24)
    for epoch in range(5):
        for x in DataLoader(Patches(), batch_size=3):
            x = x.cuda()
            loss = (net(x + 0.1) - x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        predict_volume(net, volume, args.fix)
    print("epochs", epoch + 1)


if __name__ == "__main__":
    main()
