"""job.py KIND MIB STEPS: keeps about so much more from step to step, in the first half of them; then it goes on."""
import gc
import sys
import time

try:
    from seep import step
except ImportError:
    def step():
        pass

KINDS = {
    "objects": lambda: [{"a": [i + .5, i * 1000], "b": str(i) + "name"} for i in range(2200)],
    "blocks": lambda: [bytearray(b"x") * 4050 for _ in range(256)],
    "rewrite": lambda: bytearray(b"x") * (1 << 20),
}

kind, mib, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
gc.disable()
kept = []
for i in range(steps):
    step()
    while len(kept) < min(mib, mib * 2 * (i + 1) // steps):
        kept.append(KINDS[kind]())
    if kind == "rewrite":
        for block in kept:
            block[::4096] = b"y" * len(block[::4096])
    time.sleep(0.05)
