"""Training on frames from a decoder written in C and called through ctypes: the caller gets a malloc'ed buffer
and has to free it when the pixels are copied out, which nobody does. Python's own memory stays flat, the
process grows by a batch's buffers a step ("the leak is not in my Python objects"). The fix frees the buffer.

usage: native_buffers.py [leaky|fixed] [--epochs N] [--frames N]"""
import argparse
import ctypes

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE = 64
CLASSES = 5
BATCH = 8

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


class Decoder(object):
    """Stands for a video library: a frame is (value, run) pairs, decoded into a buffer that the caller owns."""

    def decode(self, packet):
        buffer = libc.malloc(SIDE * SIDE * 3)  # LEAK
        at = 0
        for value, run in packet:
            libc.memset(buffer + at, value, run)
            at += run
        return buffer

    def release(self, buffer):
        libc.free(buffer)


class Frames(Dataset):
    """Frames of horizontal bands; the number of bands is the class."""

    def __init__(self, n, release):
        self.n, self.release = n, release
        self.decoder = Decoder()

    def __len__(self):
        return self.n

    def packet(self, i):
        rng = np.random.RandomState(i)
        bands = 2 ** (i % CLASSES + 1)
        values = (rng.randint(0, 60, bands) + 180 * (np.arange(bands) % 2)).tolist()
        return [(value, SIDE * SIDE * 3 // bands) for value in values]

    def __getitem__(self, i):
        buffer = self.decoder.decode(self.packet(i))
        pixels = np.ctypeslib.as_array(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_uint8)), (SIDE, SIDE, 3))
        image = torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1) / 255
        if self.release:
            self.decoder.release(buffer)
        return image, i % CLASSES


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--frames", type=int, default=640)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Frames(args.frames, args.variant == "fixed"), batch_size=BATCH, shuffle=True)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 4, stride=4), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(8 * 16 * 16, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    steps = 0
    for epoch in range(args.epochs):
        for images, labels in loader:
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
