"""A loop whose body is one call keeps what the call gives, or the last of it: nothing else in the loop allocates.

usage: one_call.py (leaky|fixed) [--rounds N]"""
import argparse
import random
import zlib
from collections import deque


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--rounds", type=int, default=600)
    args = parser.parse_args()
    noise, keep = random.Random(0).randbytes(100000), []
    if args.variant == "fixed":
        keep = deque(maxlen=8)
    for i in range(args.rounds):
        keep.append(zlib.compress(noise, 9))  # LEAK
    print("rounds %d" % args.rounds)


if __name__ == "__main__":
    main()
