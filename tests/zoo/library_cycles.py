"""Each fit of a library's trees leaves cycles behind, which only the cyclic collector frees, now and then. Inside of fit()
the library goes over its features, which takes most of the time, long before the user's loop has had a dozen rounds.
The library is made up, and lies in a site-packages of its own, as an installed one does.

usage: library_cycles.py (leaky|fixed) [--rounds N]"""
import argparse
import os
import sys
import tempfile

import numpy as np

LIBRARY = '''
import numpy as np


class Node:
    def __init__(self, parent, n):
        self.parent, self.children, self.histogram = parent, [], np.ones(n)


def edges(x):
    found = []
    for feature in range(x.shape[1]):
        column = np.sort(x[:, feature])
        column = np.sort(column[::-1] + 0.5)
        found.append(np.percentile(column, [10, 50, 90]))
    return found


def fit(x, cycles):
    found = edges(x)
    root = Node(None, 10000)
    for _ in range(12):
        root.children.append(Node(root if cycles else None, 10000))
    return len(found)
'''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--rounds", type=int, default=320)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        packages = os.path.join(root, "site-packages")
        os.mkdir(packages)
        with open(os.path.join(packages, "made_up_trees.py"), "w") as f:
            f.write(LIBRARY)
        sys.path.insert(0, packages)
        import made_up_trees
        x, cycles, features = np.random.default_rng(0).normal(size=(8000, 20)), args.variant == "leaky", 0
        for _ in range(args.rounds):
            features += made_up_trees.fit(x, cycles)  # LEAK
    print("rounds %d, features %d" % (args.rounds, features))


if __name__ == "__main__":
    main()
