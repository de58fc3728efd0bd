"""A plain loop over a data set, without a loader, puts the mask that it makes for each item into the data set's own
item. Only the first epoch allocates anything: the rounds of the others show in the loops' iterators alone. The fixed one
makes the mask each time.

usage: decoded_masks.py [leaky|fixed] [--items N]"""
import argparse
import time

import numpy as np

SIDE = 128


class Shapes:
    def __init__(self, n):
        self.items = [{"id": i, "corner": i % 100} for i in range(n)]


def decode(item):
    mask = np.zeros((SIDE, SIDE), np.uint8)  # LEAK
    at = item["corner"]
    mask[at:at + 20, at:at + 20] = 1
    return mask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--items", type=int, default=600)
    args = parser.parse_args()
    shapes = Shapes(args.items)
    total = np.zeros((SIDE, SIDE), np.float32)
    for epoch in range(4):
        for item in shapes.items:
            if args.variant == "leaky" and "mask" not in item:
                item["mask"] = decode(item)
            mask = item["mask"] if args.variant == "leaky" else decode(item)
            np.add(total, mask, out=total)
            time.sleep(.003)
    print("mean %.3f" % (total.mean() / epoch))


if __name__ == "__main__":
    main()
