"""Training on batches that a library decodes into a pool of its own: memory that it has mapped at once and hands out itself,
as Arrow's or TensorFlow's allocators do. Nothing of it is malloc's, so no line's blocks grow. The leaking one never uses
again what it was given back; the fix does.

usage: own_pool.py [leaky|fixed] [--steps N]"""
import argparse
import mmap

import torch

BATCH = 160000  # bytes


class Pool:
    def __init__(self, reuses):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self.memory = mmap.mmap(-1, 1 << 30, flags=flags)  # LEAK
        self.reuses = reuses
        self.used = 0

    def decode(self, step):
        at = 0 if self.reuses else self.used
        self.used = at + BATCH
        self.memory[at:at + BATCH] = bytes([step % 251]) * BATCH
        return torch.frombuffer(self.memory, dtype=torch.uint8, count=BATCH, offset=at)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    pool = Pool(args.variant == "fixed")
    net = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for step in range(args.steps):
        batch = pool.decode(step).view(-1, 64).float() / 255
        optimizer.zero_grad()
        net(batch).pow(2).mean().backward()
        optimizer.step()
    print("steps %d, %d bytes used" % (args.steps, pool.used))


if __name__ == "__main__":
    main()
