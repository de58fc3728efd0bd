"""Features in a file, normalised in place as they are met, in a map that is copied on write: each row that was written to stays
in memory. The fix maps the file shared, and the kernel writes such pages back.

usage: private_pages.py [leaky|fixed] [--steps N]"""
import argparse
import tempfile
import time

import numpy as np

ROWS, WIDTH = 50, 1024


def normalise(rows):
    rows -= rows.mean(axis=1, keepdims=True)
    rows += 1
    return float(rows[0, 0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(args.steps * ROWS * WIDTH * 4)
        mode = "c" if args.variant == "leaky" else "r+"
        features, total = np.memmap(file.name, np.float32, mode, shape=(args.steps * ROWS, WIDTH)), 0  # LEAK
        for step in range(args.steps):
            total += normalise(features[step * ROWS:(step + 1) * ROWS]) + sum(len(str(k)) for k in range(2000))
            time.sleep(0.01)
    print("steps %d, %d" % (args.steps, total))


if __name__ == "__main__":
    main()
