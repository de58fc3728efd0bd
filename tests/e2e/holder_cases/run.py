"""Python's ways to keep something, all at once: usage: run.py CASE….

Runs cases of the list, each inside the one before it, and then asks seep who holds what they made. Prints the names of
those that cannot be run here: what they need is missing."""
import gc
import importlib
import sys

import seep
from case import CASES, TABLE

import containers  # noqa: F401
import objects  # noqa: F401
import functions  # noqa: F401
import iterators  # noqa: F401
import names  # noqa: F401
import libraries  # noqa: F401
import buffers  # noqa: F401
import native  # noqa: F401


def is_here(module):
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def can_run(case):
    needs = TABLE[case.__name__].needs
    return not needs or is_here(needs)


def run(cases):
    if not cases:
        seep.holders()
        return
    if not can_run(cases[0]):
        print(cases[0].__name__)
        run(cases[1:])
    else:
        cases[0](lambda: run(cases[1:]))


if __name__ == "__main__":
    gc.disable()
    run([case for case in CASES if case.__name__ in sys.argv[1:]])
