"""Jobs without PyTorch whose main loop iterates a known number of times, 10 ms each if nothing else is said.

usage: loops.py WAY N; prints "iterations N"."""
import pathlib
import random
import sys
import tempfile
import time
import zlib

way, n = sys.argv[1], int(sys.argv[2])
keep = []


def work(ms=10):
    end = time.thread_time() + ms / 1000  # what waits for a CPU does nothing
    while time.thread_time() < end:
        sum(range(200))


def item(k):
    return bytearray(20000 + k)


def batches():
    for i in range(n):
        a = bytearray(3000)
        work()
        b = bytearray(2900)
        yield a


def helper():
    a = bytearray(1000)
    work()
    return bytearray(2000)


def in_main():
    for i in range(n):
        a = item(i)  # LOOP: in_main
        work()
        keep.append(bytearray(10000))


def nested():
    for epoch in range(n // 40):
        head = bytearray(5000)
        for i in range(40):
            a = bytearray(4000)  # LOOP: nested
            work()
            b = bytearray(9000)
        tail = [bytearray(700) for _ in range(30)]


def generator():
    for b in batches():  # LOOP: generator
        pass


def called():
    for i in range(n):
        helper()  # LOOP: called


def comprehension():
    for i in range(n):
        xs = [bytearray(600 + i) for _ in range(50)]  # LOOP: comprehension
        work()
        y = bytearray(7000)


def one_call():
    noise = random.Random(0).randbytes(300000)
    for i in range(n):
        zlib.compress(noise, 9)  # LOOP: one_call


def fast():
    """Rounds of a millisecond, 40 to an epoch."""
    for epoch in range(n // 40):
        head = bytearray(5000)
        for i in range(40):
            a = bytearray(4000)  # LOOP: fast
            work(1)
            b = bytearray(9000)


def store(blocks):
    for _ in range(128):
        keep.append(bytes(4000))
    return blocks + 128


def repeated_within():
    for i in range(n):
        store(0)  # LOOP: repeated_within
        time.sleep(0.01)


def around_while():
    blocks = 0
    while blocks < 128 * n:
        blocks = store(blocks)  # LOOP: around_while
        time.sleep(0.01)


def one_place():
    for i, k in zip(range(n), reversed(range(n))):
        a = bytearray(20000)  # LOOP: one_place
        work()


def around_library():
    """What the library repeats is not what the job does."""
    with tempfile.TemporaryDirectory() as root:
        packages = pathlib.Path(root, "site-packages")
        packages.mkdir()
        (packages / "made_up_library.py").write_text(
            "def fit(work):\n    for feature in range(20):\n        a = bytearray(5000)\n        work(4)\n"
            "        b = bytearray(2000)\n")
        sys.path.insert(0, str(packages))
        import made_up_library
        for i in range(n):
            made_up_library.fit(work)  # LOOP: around_library


def prepared():
    """What is done before the main loop is not it."""
    cache = []
    for i in range(100):
        cache.append(bytearray(1500))
        work(5)
        cache.append(bytearray(2500))
    time.sleep(1.1)
    for i in range(n):
        a = item(i)  # LOOP: prepared
        work()
        b = bytearray(9000)


def called_back():
    class Data:
        def __getitem__(self, k):
            for i in range(n):
                a = bytearray(1000)
                work()
                b = bytearray(2000)
    Data()[0]


if way == "module":
    for i in range(n):
        a = item(i)  # LOOP: module
        work()
        keep.append(bytearray(10000))
else:
    globals()[way]()
print("iterations %d" % n)
