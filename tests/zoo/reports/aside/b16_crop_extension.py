"""Trains on crops that a C extension cuts and jitters. The extension is simulated with ctypes: what matters of it is
that it makes an array with numpy's C interface and hands it out.

leaky: it takes one reference too many to what it hands out, as a Py_INCREF before a returned PyObject does.
fixed: it takes none.

usage: b16_crop_extension.py leaky|fixed [--steps N]"""
import argparse
import ctypes

import numpy as np
import torch
import torch.nn as nn

CROP, BATCH = 40, 8


class Cropper:
    """_cropper.so, as it were."""

    def __init__(self, take_reference):
        self.take_reference = take_reference
        self.incref = ctypes.pythonapi.Py_IncRef
        self.incref.argtypes, self.incref.restype = [ctypes.py_object], None

    def cut(self, image, top, left, gain):
        out = np.empty((3, CROP, CROP), np.float32)  # LEAK
        np.multiply(image[:, top:top + CROP, left:left + CROP], gain, out=out)
        if self.take_reference:
            self.incref(out)  # HELD
        return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=450)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.RandomState(0)
    photographs = rng.rand(24, 3, 72, 72).astype(np.float32)
    photographs[:12, 0] += 0.5
    cropper = Cropper(args.variant == "leaky")
    net = nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
                        *(layer for _ in range(5) for layer in (nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(args.steps):
        which = rng.randint(24, size=BATCH)
        crops = [cropper.cut(photographs[k], rng.randint(32), rng.randint(32), 0.8 + 0.4 * rng.rand()) for k in which]
        loss = nn.functional.cross_entropy(net(torch.from_numpy(np.stack(crops))), torch.from_numpy(which // 12))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps %d, loss %.4f" % (args.steps, loss.item()))


if __name__ == "__main__":
    main()
