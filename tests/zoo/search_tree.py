"""A training that sorts the losses of its samples into a search tree, to tell the median so far. Its nodes are small
Python objects, and no container has them: each is held by the one above it. The fix drops the tree after each report.

usage: search_tree.py leaky|fixed [--steps N]"""
import argparse

import torch

SAMPLES, REPORT = 256, 50


class Node:
    def __init__(self, value):
        self.value, self.size, self.below = value, 1, None

    def insert(self, value):
        node = self
        while True:
            node.size += 1
            if node.below is None:
                node.below = (None, None)
            left, right = node.below
            if value < node.value:
                if left is None:
                    node.below = Node(value), right  # LEAK
                    return
                node = left
            else:
                if right is None:
                    node.below = left, Node(value)  # LEAK
                    return
                node = right


def median(node):
    rank = node.size // 2
    while node.below:
        left, right = node.below
        before = left.size if left else 0
        if rank < before:
            node = left
        elif rank > before and right:
            rank -= before + 1
            node = right
        else:
            break
    return node.value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=1000)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Linear(32, 32)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    seen = Node(1.0)
    for step in range(args.steps):
        losses = net(torch.randn(SAMPLES, 32)).pow(2).mean(1)
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        for value in losses.tolist():
            seen.insert(value)
        if step % REPORT == REPORT - 1:
            print("step %d: median %.3f of %d" % (step, median(seen), seen.size))
            if args.variant == "fixed":
                seen = Node(1.0)


if __name__ == "__main__":
    main()
