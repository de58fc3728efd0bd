"""Jobs without PyTorch that give a known number of tasks to a pool of two processes, 5 ms each.

usage: pools.py WAY N; prints "tasks N"."""
import concurrent.futures
import multiprocessing
import multiprocessing.pool
import sys
import time

way, n = sys.argv[1], int(sys.argv[2])


def task(k):
    end = time.perf_counter() + 0.005
    while time.perf_counter() < end:
        sum(range(200))
    return len(bytearray(20000 + k))


def pool(method, chunk=1):
    with multiprocessing.get_context(method).Pool(2) as workers:
        return workers.map(task, range(n * chunk), chunksize=chunk)


def executor():
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as workers:
        return list(workers.map(task, range(n)))


def threads():
    with multiprocessing.pool.ThreadPool(2) as workers:
        return workers.map(task, range(n), chunksize=1)


def told():
    """The job says its steps once the pool is done."""
    import seep

    done = pool("fork")
    for _ in range(20):
        seep.step()
    return done


if __name__ == "__main__":
    ways = {"fork": lambda: pool("fork"), "spawn": lambda: pool("spawn"), "chunks": lambda: pool("fork", 3),
            "executor": executor, "threads": threads, "told": told}
    done = ways[way]()
    print("tasks", n if len(done) in (n, 3 * n) else 0)
