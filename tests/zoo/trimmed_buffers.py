"""A loader that reads each record into a large buffer, cuts that to what it needs, and keeps it. What is kept is tiny; but
malloc cuts it off where the buffer lay, and no later buffer fits between two of them. The fix copies it into one array.

usage: trimmed_buffers.py [leaky|fixed] [--steps N]"""
import argparse

import numpy as np

RECORD = 150000
KEPT = 40


def read_record(step, k):
    buffer = np.empty(RECORD, np.uint8)
    buffer[:] = (step + k) % 251
    return buffer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=2000)
    args = parser.parse_args()
    np.empty(24 << 20, np.uint8).fill(1)  # from now on glibc takes blocks of up to so many bytes from its heap
    total, heads, table = 0, [], np.zeros((args.steps, 5, KEPT), np.uint8)
    for step in range(args.steps):
        buffers = [read_record(step, k) for k in range(5)]
        total += sum(int(np.dot(b.astype(np.int64), b)) for b in buffers)
        for k, buffer in enumerate(buffers):
            if args.variant == "fixed":
                table[step, k] = buffer[:KEPT]
            else:
                buffer.resize(KEPT, refcheck=False)  # LEAK
                heads.append(buffer)
    print("steps %d, %d heads, %d, %d" % (args.steps, len(heads), int(table.sum()), total))


if __name__ == "__main__":
    main()
