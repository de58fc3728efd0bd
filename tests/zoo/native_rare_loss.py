"""A native decoder keeps a scratch buffer for each image size and loses the old one whenever a size is larger than any it
has met, or new: it loses ever less often, since sizes repeat. What is lost stays lost. The fix frees the old buffer.

usage: native_rare_loss.py [leaky|fixed] [--steps N]"""
import argparse
import ctypes
import random

import torch

libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


class Decoder(object):
    def __init__(self, frees):
        self.frees = frees
        self.met = set()
        self.scratch = ctypes.c_void_p(0)

    def decode(self, size):
        if size not in self.met:
            self.met.add(size)
            if self.frees and self.scratch.value:
                libc.free(self.scratch)
            self.scratch.value = libc.calloc(size, 64)  # LEAK
        return torch.full((8, 64), size / 4096.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    sizes = random.Random(0)
    decoder = Decoder(args.variant == "fixed")
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(args.steps):
        for i in range(2):
            loss = net(decoder.decode(2048 + 16 * int(sizes.expovariate(0.08)))).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps %d: loss %.4f, %d sizes" % (args.steps, loss.item(), len(decoder.met)))


if __name__ == "__main__":
    main()
