"""The same cases for who looks from outside: usage: looked_at.py CASE….

Runs them in a process that seep knows nothing of, says "ready" and what each has allocated by Python's own account
(tracemalloc, asked in a copy of this process: its tables would refer to everything), and waits until its input ends."""
import json
import os
import sys
import tracemalloc
import types


def wait():
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()


sys.modules["seep"] = types.ModuleType("seep")
sys.modules["seep"].holders = wait

import run  # noqa: E402
from case import CASES  # noqa: E402


def account(cases):
    """{name: bytes} of cases that can be run here, each counted while it holds them."""
    sizes = {}

    def count(rest, name, before):
        if name:
            sizes[name] = tracemalloc.get_traced_memory()[0] - before
        if not rest:
            return
        if run.can_run(rest[0]):
            now = tracemalloc.get_traced_memory()[0]
            rest[0](lambda: count(rest[1:], rest[0].__name__, now))
        else:
            count(rest[1:], None, 0)
    tracemalloc.start()
    count(cases, None, 0)
    return sizes


def print_account(cases):
    child = os.fork()
    if not child:
        sys.stdout.write(json.dumps(account(cases)) + "\n")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    chosen = [case for case in CASES if case.__name__ in sys.argv[1:]]
    run.gc.disable()
    print_account(chosen)
    run.run(chosen)
