# -*- coding: utf-8 -*-
"""Run by each CPython: the stacks that the probe reads are those that Python itself reports.

    check.py PROBE.so          prints one line; exit status 1 when a stack differs
    check.py PROBE.so --bench  the cost of a walk
    check.py PROBE.so --churn  a job for the preloaded probe: it looks at every allocation
"""
import asyncio
import ctypes
import functools
import os
import sys
import threading

PROBE = sys.argv[1]
held = ctypes.PyDLL(PROBE)      # calls with the GIL
released = ctypes.CDLL(PROBE)   # calls without
for lib in (held, released):
    lib.probe_stack.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.probe_local.restype = ctypes.c_void_p
    lib.probe_bench.restype = ctypes.c_double
    lib.probe_events.restype = ctypes.c_ulong
    if lib.probe_attach() != 0:
        sys.exit("this interpreter cannot be read that way")

n_checked = 0
failures = []


MOST_FRAMES = 320  # SEEP_MAX_PYTHON_FRAMES: deeper stacks are cut at the outer end


def probed(lib):
    buffer = ctypes.create_string_buffer(1 << 20)
    n = lib.probe_stack(buffer, len(buffer))
    loops, *lines = buffer.value.decode("utf-8").split("\n")[:-1]
    rows = [line.split("\1") for line in lines]
    # Up to 3.10 every frame has an evaluation loop of its own, later ones share it.
    least = n if sys.version_info < (3, 11) else 1
    if n < MOST_FRAMES and not least <= int(loops) <= n:
        failures.append("%s evaluation loops for %d frames" % (loops, n))
    return n, [(r[0], r[1], r[2], int(r[3]), int(r[4])) for r in rows][1:]


def expected(frame):
    rows = []
    while frame:
        code = frame.f_code
        rows.append((code.co_filename, code.co_name, getattr(code, "co_qualname", code.co_name),
                     code.co_firstlineno, frame.f_lineno or 0))
        frame = frame.f_back
    return rows


def printable(rows):
    return "\n".join("      %s:%d %s (%s, %d)" % (r[0], r[4], r[1], r[2], r[3]) for r in rows[:12])


def clean(rows):
    """Undecodable bytes of file names are the one thing that UTF-8 cannot say."""
    return [tuple("".join("\ufffd" if 0xd800 <= ord(c) < 0xe000 else c for c in x)
                  if isinstance(x, str) else x for x in r) for r in rows]


def look(*_, **__):
    """Both stacks from here on, with the GIL and without; returns its first argument."""
    global n_checked
    for lib in held, released:
        (n, got), want = probed(lib), expected(sys._getframe())[:MOST_FRAMES - 1]
        n_checked += 1
        if n != len(want) + 1 or got != clean(want):
            failures.append("got %d\n%s\n    want %d\n%s" % (
                n - 1, printable(got), len(want), printable(want)))
    return _[0] if _ else None


# ---- the ways in which code runs -----------------------------------------------------------------

def recursion(depth):
    if depth == 0:
        return look()
    return recursion(
        depth - 1
    )


def generator(n):
    for i in range(n):
        look()
        yield look(
            i,
        )
    try:
        yield
    except ValueError:
        look()
        yield 1


def delegating():
    yield from generator(2)


def generators():
    list(generator(2)); sum(x or 0 for x in generator(2))
    for _ in delegating():
        look()
    g = generator(0)
    next(g)
    g.throw(ValueError())
    g.close()
    look(*(look(i)
           for i in range(2)))


def comprehensions():
    return [look(
        [look(j) for j in range(i) if look() is None],
        {look(k): {look(m) for m in (1, 2)}
         for k in range(i)}
    ) for i in range(3)]


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        look()
        return function(
            *args,
            **kwargs)
    return wrapper


@decorated
@functools.lru_cache(
    maxsize=None
)
@decorated
def decorations(x=look()):
    return look()


class Meta(type):
    def __new__(mcs, name, bases, space):
        look()
        return super().__new__(mcs, name,
                               bases, space)

    def __call__(cls, *args):
        return super().__call__(*args)


class Body(metaclass=Meta):
    look()
    value = (lambda: look(
        1))()

    class Inner:
        look()
        things = [look() for _ in range(2)]

    def __init__(self):
        look(self)
        self.inner = lambda: (
            self, look())
        self.inner()

    def __getattr__(self, name):
        return look(name)

    @property
    def prop(self):
        return look()

    def __lt__(self, other):
        look()
        return False

    def __del__(self):
        look()

    def __enter__(self):
        look()

    def __exit__(self, *_):
        look()


def objects():
    b = Body()
    b.missing, b.prop
    sorted([b, Body()]); max(b, Body())
    with Body() as x, \
            b:
        look(x)
    del b, x
    "%s %s" % (
        type("R", (), {"__repr__": lambda self: look("r")})(),
        f"{look(1)!r:>5}")


def callbacks():
    sorted([3, 1, 2], key=lambda x: look(x))
    functools.reduce(lambda a, b: look(a), [1, 2, 3])
    list(map(look, [1])); list(filter(lambda x:
                                      look(x), [1]))
    COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))

    def compare(a, b):
        look()
        return a[0] - b[0]
    array = (ctypes.c_int * 3)(3, 1, 2)
    ctypes.CDLL(None).qsort(array, 3, 4, COMPARE(compare))


def exceptions():
    try:
        try:
            raise KeyError(look(1))
        except KeyError:
            look()
            raise ValueError(
                look()) from None
        finally:
            look()
    except ValueError as e:
        look(e)
    try:
        [][look(1)]
    except IndexError:
        look()
    else:
        look()


def executed():
    exec("look()\n\n\nlook(\n  look())\n", globals())
    eval("look(\n1)", globals())
    exec(compile("\n" * 40000 + "def f():\n  look()\n" + "\n" * 300 + "  return [\n look() for _ in [1]]\nf()",
                 "<made>", "exec"), globals())
    long = "def long():\n" + "".join("  x%d = [%d, %d]\n" % (i, i, i) for i in range(3000)) + "  look()\nlong()\n"
    exec(compile(long, "long.py", "exec"), dict(look=look))
    wide = "look(" + ",".join("(%d)" % i for i in range(300)) + ",\n\n" + " " * 400 + "look())\n" * 1
    exec(compile(wide, "wide.py", "exec"), dict(look=look))


def names():
    for name in "größe", "ещё", "変数", "𝔘𝔫𝔦", "a" * 300, "ü" * 200:
        space = dict(look=look)
        exec(compile("def %s():\n  return look()\n%s()" % (name, name), "/tmp/ü/文/%s.py" % name, "exec"), space)
    exec(compile("look()", os.fsdecode(b"/tmp/\xff\xfe.py"), "exec"), globals())

    class Text(str):
        pass
    if sys.version_info >= (3, 8):
        code = (lambda: look()).__code__.replace(co_filename=Text("subclass.py"))
        exec(code, globals())


def threads():
    def work(n):
        for _ in range(20):
            recursion(n)
    running = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in running:
        t.start()
    for t in running:
        t.join()

    made = ctypes.CFUNCTYPE(None)(lambda: look())
    if released.probe_call(made) != 0:
        failures.append("a thread without Python shows frames")


async def deep(n):
    look()
    if n:
        await asyncio.sleep(0)
        return await deep(
            n - 1)
    async for i in agen():
        look(i)
    return [look(i) async for i in agen()]


async def agen():
    for i in range(2):
        yield look(i)
        await asyncio.sleep(0)


async def together():
    await asyncio.gather(*[deep(i) for i in range(3)])
    await asyncio.get_running_loop().run_in_executor(None, look)


def coroutines():
    asyncio.run(together())


def children():
    pid = os.fork()
    if pid == 0:
        failures[:] = []
        recursion(5)
        t = threading.Thread(target=look)
        t.start()
        t.join()
        os._exit(1 if failures else 0)
    if os.waitpid(pid, 0)[1] != 0:
        failures.append("stacks differ in a forked child")


def traced():
    sys.settrace(lambda *_: None)
    try:
        recursion(3)
    finally:
        sys.settrace(None)
    sys.setprofile(lambda *_: None)
    try:
        recursion(3)
        callbacks()
    finally:
        sys.setprofile(None)


def modules():
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "seep_probed_ü.py"), "w", encoding="utf-8") as f:
            f.write("import __main__\n\n__main__.look(\n  1)\n")
        sys.path.insert(0, folder)
        __import__("seep_probed_ü")
        sys.path.pop(0)


def first_locals():
    def plain(x, y=1):
        return held.probe_local(0), id(x)

    def closed(x):
        return (lambda: held.probe_local(1))(), id(x), (lambda: x)

    def star(*args, **kwargs):
        return released.probe_local(0), id(args[0])

    def star_closed(*args):
        return held.probe_local(0), id(args[0]), (lambda: args)

    def nothing():
        return held.probe_local(0), None

    class Thing:
        def method(self):
            return held.probe_local(0), id(self), (lambda: self)
    for name, pair in [("plain", plain([])), ("closed", closed([])), ("star", star([], 1)), ("none", nothing()),
                       ("star_closed", star_closed([])), ("method", Thing().method()), ("empty", (star_empty(), None)),
                       ("middle", (lambda x: middle() + (id(x),))([1]))]:
        if pair[0] != pair[1]:
            failures.append("first local of %s: %r is not %r" % (name, pair[0], pair[1]))


def middle():
    return (held.probe_local(1),)


def star_empty(*args):
    return held.probe_local(0)


def bench():
    """Differences in depth give the cost of a frame; released and held cost the same."""
    def at(depth, rounds=200000):
        if depth > 1:
            return at(depth - 1, rounds)
        return min(released.probe_bench(rounds) for _ in range(5))
    at(10, 1000)
    ten, hundred = at(7), at(97)
    print("%-8s %5.1f ns at 10 frames, %.2f ns a frame, %.1f ns fixed" % (
        sys.version.split()[0], ten, (hundred - ten) / 90, ten - 10 * (hundred - ten) / 90))


def churn():
    """Ends with daemon threads still at work: their states are freed under them."""
    def work(n):
        while True:
            recursed = [bytearray(700) for _ in range(50)]
            sorted(recursed, key=lambda x: len(x) + len(bytes(1000)))
            ctypes.create_string_buffer(5000)
            if n == 0:
                return
    import json
    import tempfile
    for _ in range(3):
        for group in GROUPS:
            group()
        t = threading.Thread(target=work, args=(0,))
        t.start()
        json.loads(json.dumps({str(i): [i] * 10 for i in range(300)}))
        t.join()
    with tempfile.TemporaryFile() as f:
        f.write(b"x" * 100000)
    for _ in range(3):
        threading.Thread(target=work, args=(1,), daemon=True).start()
    return held.probe_events()


GROUPS = [generators, comprehensions, decorations, objects, callbacks, exceptions, executed, names, threads, coroutines,
          children, traced, modules, first_locals]


def main():
    mode = sys.argv[2] if len(sys.argv) > 2 else ""
    sys.setrecursionlimit(5000)
    if mode == "--bench":
        return bench()
    if mode == "--churn":
        events = churn()
        print("%-8s %d allocations under Python looked at%s" % (
            sys.version.split()[0], events, "".join("\n  " + f for f in failures[:2])))
        return 0 if events > 10000 and not failures else 1
    for depth in 0, 1, 10, 200, 600, 1500, 30:
        recursion(depth)
    for group in GROUPS:
        before = len(failures)
        group()
        for failure in failures[before:][:2]:
            print("  %s: %s" % (group.__name__, failure))
    seen = held.probe_version() & 0xffffffff
    if seen >> 8 != sys.hexversion >> 8:
        failures.append("version")
        print("  version %x is not %x" % (seen, sys.hexversion))
    print("%-8s %s: %d stacks, %d wrong" % (
        sys.version.split()[0], "differs" if failures else "ok", n_checked, len(failures)))
    return 1 if failures else 0


sys.exit(main())
