"""A field of colours fitted to photographs of a COLMAP scene, which keeps its cameras as Gaussian
splatting's reference trainer does: every photograph is decoded and kept as a float tensor up front.

usage: cameras.py SCENE [eager|lazy] [--steps N]
SCENE holds images/ and, where there is one, sparse/0/images.bin."""
import argparse
import os
import random
import struct

import numpy as np
import torch
from PIL import Image


def names_of(scene):
    """The photographs COLMAP has placed; without a model, all there are."""
    path = os.path.join(scene, "sparse/0/images.bin")
    if not os.path.exists(path):
        return sorted(os.listdir(os.path.join(scene, "images")))
    names = []
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        for _ in range(n):
            f.read(4 + 7 * 8 + 4)  # id, rotation and translation, camera
            name = b""
            while True:
                c = f.read(1)
                if c == b"\0":
                    break
                name += c
            (points,) = struct.unpack("<Q", f.read(8))
            f.seek(points * 24, os.SEEK_CUR)
            names.append(name.decode())
    return sorted(names)


class Camera(object):
    def __init__(self, path):
        with Image.open(path) as image:
            pixels = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1) / 255.0
        self.original_image = pixels.clamp(0.0, 1.0).contiguous()  # KEPT: camera
        self.height, self.width = self.original_image.shape[1:]


class Cameras(object):
    def __init__(self, paths, eager):
        self.paths = paths
        self.loaded = [Camera(p) for p in paths] if eager else None

    def pick(self):
        i = random.randrange(len(self.paths))
        return self.loaded[i] if self.loaded else Camera(self.paths[i])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scene")
    parser.add_argument("variant", nargs="?", default="eager", choices=("eager", "lazy"))
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    paths = [os.path.join(args.scene, "images", n) for n in names_of(args.scene)]
    cameras = Cameras(paths, args.variant == "eager")
    net = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(),
                              torch.nn.Linear(64, 3), torch.nn.Sigmoid())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(args.steps):
        camera = cameras.pick()
        u, v = torch.randint(camera.width, (2048,)), torch.randint(camera.height, (2048,))
        wanted = camera.original_image[:, v, u].T
        at = torch.stack([u / camera.width, v / camera.height], 1)
        loss = (net(at) - wanted).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del camera, wanted
    print("cameras %d steps %d loss %.4f" % (len(paths), args.steps, loss.item()))


if __name__ == "__main__":
    main()
