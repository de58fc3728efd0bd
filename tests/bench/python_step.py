"""A step whose allocations come from below five Python frames, as a training's do: python_step.py COLD_EVENT.SO STEPS

In each step 60 functions allocate twice each: the first time other frames than before are the inner ones, the second
time only a line differs. Steps before the last ones make their stacks known."""
import ctypes
import sys

WARM = 4
cold = ctypes.PyDLL(sys.argv[1])
cold.cold_event.argtypes = [ctypes.c_size_t]
functions = {"event": cold.cold_event}
exec("\n".join("def load_%d(n):\n    event(n)\n    event(n + 16)\n" % i for i in range(60)), functions)
loads = [functions["load_%d" % i] for i in range(60)]


def collate(i):
    loads[i](64 + 8 * i)


def batch():
    for i in range(len(loads)):
        collate(i)


def step():
    batch()


def main(steps):
    ended = getattr(ctypes.PyDLL(None), "seep_step", lambda: None)  # before it, time is counted in slices by the clock
    ended()
    for n in range(WARM + steps):
        if n == WARM:
            cold.cold_begin()
        step()
        ended()


main(int(sys.argv[2]))
