"""An index written in C takes a reference to each query and forgets to give it back (Py_INCREF without Py_DECREF): no
variable holds the queries, and no collector frees them. The fix gives the reference back.

usage: leaked_references.py [leaky|fixed] [--steps N]"""
import argparse
import ctypes

import torch

take = ctypes.pythonapi.Py_IncRef
take.argtypes = [ctypes.py_object]
give_back = ctypes.pythonapi.Py_DecRef
give_back.argtypes = [ctypes.py_object]


class Index(object):
    def __init__(self, gives_back):
        self.gives_back = gives_back

    def nearest(self, query):
        take(query)
        found = max(range(64), key=query.__getitem__)
        if self.gives_back:
            give_back(query)
        return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    index = Index(args.variant == "fixed")
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(args.steps):
        out = net(torch.randn(8, 64))
        query = bytearray(out.detach().numpy().tobytes() * 32)  # LEAK
        loss = (out - index.nearest(query) / 64).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps %d: loss %.4f" % (args.steps, loss.item()))


if __name__ == "__main__":
    main()
