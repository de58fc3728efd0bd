"""A tokenizer written in C takes a reference to each caption and forgets to give it back (Py_INCREF without Py_DECREF).
Captions are short: they lie in Python's arenas, which any line may ask for. The fix gives the references back.

usage: leaked_captions.py [leaky|fixed] [--steps N]"""
import argparse
import ctypes
import random

import torch

take = ctypes.pythonapi.Py_IncRef
take.argtypes = [ctypes.py_object]
take.restype = None
give_back = ctypes.pythonapi.Py_DecRef
give_back.argtypes = [ctypes.py_object]
give_back.restype = None
TEXT = "a photograph of a street at night " * 12


class Tokenizer(object):
    def __init__(self, gives_back):
        self.gives_back = gives_back

    def ids(self, captions):
        for caption in captions:
            take(caption)
            if self.gives_back:
                give_back(caption)
        return torch.tensor([int(caption[:6]) % 64 for caption in captions])


def captions(step):
    return ["%06d%s" % (step * 64 + i, TEXT[i : i + 200]) for i in range(64)]  # LEAK


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=1500)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokenizer = Tokenizer(args.variant == "fixed")
    net = torch.nn.Sequential(torch.nn.Embedding(64, 16), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(args.steps):
        loss = net(tokenizer.ids(captions(step))).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps %d: loss %.4f" % (args.steps, loss.item()))


if __name__ == "__main__":
    main()
