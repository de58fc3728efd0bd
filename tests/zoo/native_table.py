"""Training on tokens, whose ids a native tokenizer caches in a table like Rust's HashMap: one block of buckets with their
control bytes behind them, and the only address of it is that of the control bytes. Each entry's value is a block of its
own. The leaking cache has no bound; the healthy one puts the newest in the place of the oldest, and is full soon.

usage: native_table.py [leaky|fixed] [--steps N]"""
import argparse
import ctypes

import torch

BUCKET = 16
BUCKETS = 8192
BOUND = 64
VALUE = 40000

libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def word(address):
    return ctypes.c_uint64.from_address(address)


class Tokenizer(object):
    """`state` is what the native library hands out: a mask, the address of the control bytes, the number of entries."""

    def __init__(self, bound):
        self.bound = bound
        self.state = ctypes.c_void_p(libc.calloc(3, 8))
        word(self.state.value).value = BUCKETS - 1
        word(self.state.value + 8).value = libc.calloc(1, BUCKETS * (BUCKET + 1)) + BUCKETS * BUCKET

    def encode(self, text):
        n = word(self.state.value + 16).value
        bucket = word(self.state.value + 8).value - (n % self.bound + 1) * BUCKET
        if word(bucket).value:
            libc.free(word(bucket).value)
        word(bucket).value = libc.calloc(1, VALUE)  # LEAK
        word(self.state.value + 16).value = n + 1
        return [ord(c) % 32 for c in text]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokenizer = Tokenizer(BUCKETS if args.variant == "leaky" else BOUND)
    net = torch.nn.Sequential(torch.nn.Embedding(32, 64), torch.nn.Flatten(), torch.nn.Linear(64 * 16, 512),
                              torch.nn.ReLU(), torch.nn.Linear(512, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(args.steps):
        ids = [tokenizer.encode(("sentence %d of batch %d" % (i, step))[:16].ljust(16)) for i in range(4)]
        loss = net(torch.tensor(ids)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps %d: loss %.4f" % (args.steps, loss.item()))


if __name__ == "__main__":
    main()
