"""Allocates a block of a distinct size in every kind of Python frame, and prints for each the stack
according to Python: [{"group", "name", "space", "bytes", "stack": [[file, function, line], ... innermost first]}].

usage: stacks.py [GROUP ...]; works with every CPython from 3.6 on."""
import functools
import gc
import json
import os
import re
import sys
import threading
import weakref

kept = []
expected = []
current = "start"
lock = threading.Lock()


BYTEARRAY = 1 if sys.version_info < (3, 15) else 33  # what one is larger than its contents: by a head and a zero


def take(name, space="host", extra=BYTEARRAY):
    """A size nobody else uses. `extra`: what the allocator is asked for beyond it."""
    with lock:
        size = 200000 + 1000 * len(expected)
        expected.append({"group": current, "name": name, "space": space, "bytes": size + extra, "stack": None})
    return size


def keep(block, name="block"):
    """Called on the line that made the block: notes the stack of its caller."""
    kept.append(block)
    f, stack = sys._getframe(1), []
    while f is not None:
        stack.append([f.f_code.co_filename, f.f_code.co_name, f.f_lineno])
        f = f.f_back
    with lock:
        for e in reversed(expected):
            if e["stack"] is None and e["name"] == name:
                e["stack"] = stack
                return
    raise KeyError(name)


def make(name):
    keep(bytearray(take(name)), name)


class Thing(object):
    def __init__(self):
        keep(bytearray(take("init")), "init")

    def method(self):
        keep(bytearray(take("method")), "method")

    @classmethod
    def of_class(cls):
        keep(bytearray(take("classmethod")), "classmethod")

    @staticmethod
    def static():
        keep(bytearray(take("staticmethod")), "staticmethod")

    @property
    def prop(self):
        keep(bytearray(take("property")), "property")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return keep(bytearray(take("getattr")), "getattr")

    def __len__(self):
        keep(bytearray(take("len")), "len")
        return 1

    def __call__(self, *args, **kw):
        keep(bytearray(take("call")), "call")

    def __iter__(self):
        keep(bytearray(take("iter")), "iter")
        return iter([1])

    def __del__(self):
        keep(bytearray(take("del")), "del")


def group_plain():
    make("function")
    (lambda: keep(bytearray(take("lambda")), "lambda"))()

    def closure():
        keep(bytearray(take("closure")), "closure")
        return group_plain
    closure()
    thing = Thing()
    thing.method()
    Thing.of_class()
    Thing.static()
    thing.prop
    thing.anything
    len(thing)
    thing(1, *[2], **{"a": 3})
    list(thing)
    del thing

    class Body(object):
        keep(bytearray(take("class body")), "class body")

    def decorator(f):
        keep(bytearray(take("decorator")), "decorator")

        @functools.wraps(f)
        def inner(*args):
            keep(bytearray(take("wrapper")), "wrapper")
            return f(*args)
        return inner

    @decorator
    def decorated():
        make("decorated")
    decorated()
    functools.partial(make, "partial")()


def recurse(n, name):
    if n == 0:
        return keep(bytearray(take(name)), name)
    return recurse(n - 1, name)


def group_recursion():
    recurse(200, "recursion")


def group_deep():
    sys.setrecursionlimit(5000)
    recurse(1500, "deep")


def generator():
    yield 1
    keep(bytearray(take("generator")), "generator")
    yield 2
    try:
        yield 3
    finally:
        keep(bytearray(take("generator close")), "generator close")


def delegating():
    for _ in (yield from generator()) or []:
        pass


def catching():
    try:
        yield
    except ValueError:
        keep(bytearray(take("generator throw")), "generator throw")
    yield


def group_generators():
    it = generator()
    next(it), next(it), next(it)
    it.close()
    list(delegating())
    it = catching()
    next(it)
    it.throw(ValueError("x"))
    sum(keep(bytearray(take("generator expression")), "generator expression") or 1 for _ in [1])
    [keep(bytearray(take("list comprehension")), "list comprehension") for _ in [1]]
    {keep(bytearray(take("set comprehension")), "set comprehension") for _ in [1]}
    {_: keep(bytearray(take("dict comprehension")), "dict comprehension") for _ in [1]}
    [[keep(bytearray(take("nested comprehension")), "nested comprehension") for _ in [1]]
     for _ in [1]]
    any(map(lambda x: [keep(bytearray(take("lambda in map")), "lambda in map") for _ in [1]], [1]))


def group_async():
    import asyncio

    async def inner():
        await asyncio.sleep(0)
        keep(bytearray(take("coroutine")), "coroutine")

    async def agen():
        yield 1
        keep(bytearray(take("async generator")), "async generator")
        yield 2

    async def outer():
        await inner()
        async for _ in agen():
            pass
        await asyncio.gather(inner(), inner())
    loop = asyncio.new_event_loop()
    loop.run_until_complete(outer())
    loop.close()


def group_threads():
    def in_thread():
        keep(bytearray(take("thread")), "thread")
    for _ in range(5):
        t = threading.Thread(target=in_thread)
        t.start()
        t.join()
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(2) as pool:
        pool.submit(make, "thread pool").result()
        list(pool.map(make, ["thread pool map"]))


def group_callbacks():
    sorted([2, 1], key=lambda x: keep(bytearray(take("sort key")), "sort key") or x)
    list(map(make, ["map"]))
    functools.reduce(lambda a, b: keep(bytearray(take("reduce")), "reduce"), [1, 2])
    re.sub("a", lambda m: keep(bytearray(take("re.sub")), "re.sub") or "b", "a")
    max([1, 2], key=lambda x: sorted([x, 3], key=lambda y: make("key in key") or y))

    class Referent(object):
        pass
    r = Referent()
    kept.append(weakref.ref(r, lambda _: keep(bytearray(take("weakref callback")), "weakref callback")))
    del r
    cycle = Referent()
    cycle.me, cycle.thing = cycle, Thing.__new__(Thing)
    del cycle
    gc.collect()


def group_control():
    try:
        try:
            raise KeyError
        except KeyError:
            keep(bytearray(take("except")), "except")
        finally:
            keep(bytearray(take("finally")), "finally")
    finally:
        keep(bytearray(take("outer finally")), "outer finally")

    class Manager(object):
        def __enter__(self):
            keep(bytearray(take("enter")), "enter")

        def __exit__(self, *args):
            keep(bytearray(take("exit")), "exit")
    with Manager():
        keep(bytearray(take("with")), "with")
    for i in range(3):
        if i == 2:
            keep(bytearray(take("loop")), "loop")
    i = 0
    while True:
        i += 1
        if i > 1:
            break
        keep(bytearray(take("while")), "while")
    print(
        "",
        keep(bytearray(take("argument line")), "argument line") or "",
        end="",
        file=sys.stderr,
    )
    x = (i +
         (keep(bytearray(take("expression line")), "expression line") or 0) +
         len(str(i)))
    return x


def group_source():
    """Code objects with names, lines and tables out of the ordinary."""
    scope = {"keep": keep, "take": take}
    block = "keep(bytearray(take('%s')), '%s')\n"
    exec(compile("\n" * 3000 + block % ("line 3001", "line 3001"), "<generated>", "exec"), scope)
    exec(compile("\n" * 70000 + block % ("line 70001", "line 70001"), "<generated>", "exec"), scope)
    exec(compile("def f():\n" + "\n" * 900 + " x = 1\n" + "\n" * 130 + " " + block % ("jumps", "jumps") + "f()\n",
                 "jumps.py", "exec"), scope)
    many = "def f(x):\n" + "".join(" x = (x + %d) * %d %% 1000007\n" % (i, i + 3) for i in range(3000))
    exec(compile(many + " " + block % ("long function", "long function") + "f(1)\n", "long.py", "exec"), scope)
    wide = "x = [" + ", ".join(str(i) + "+y" for i in range(2000)) + "]; "
    exec(compile("def f(y):\n " + wide + block % ("wide line", "wide line") + "f(1)\n", "wide.py", "exec"), scope)
    exec(compile("def gr\u00fc\u00dfe():\n " + block % ("latin", "latin") + "gr\u00fc\u00dfe()\n",
                 "/tmp/l\u00e4ufer.py", "exec"), scope)
    exec(compile("def \u8bad\u7ec3():\n " + block % ("chinese", "chinese") + "\u8bad\u7ec3()\n",
                 "/tmp/\u8bad\u7ec3.py", "exec"), scope)
    eval(compile("keep(bytearray(take('eval')), 'eval')", "<expression>", "eval"), scope)
    long_name = "n" * 3000
    exec(compile("def %s():\n " % long_name + block % ("long name", "long name") + long_name + "()\n",
                 "names.py", "exec"), scope)


def group_reuse():
    """Code objects that come and go: an address used again must not keep its old name."""
    for i in range(50):
        scope = {"keep": keep, "take": take}
        name = "fleeting %d" % i
        exec(compile("\n" * i + "def f%d():\n keep(bytearray(take(%r)), %r)\nf%d()\n" % (i, name, name, i),
                     "fleeting%d.py" % (i % 3), "exec"), scope)
        del scope
        gc.collect()


def group_trace():
    sys.settrace(lambda *a: None)
    try:
        keep(bytearray(take("traced")), "traced")
    finally:
        sys.settrace(None)

    def trace(frame, event, arg):
        return trace
    sys.settrace(trace)
    try:
        make("line-traced")
    finally:
        sys.settrace(None)
    sys.setprofile(lambda *a: None)
    try:
        make("profiled")
    finally:
        sys.setprofile(None)


def group_import():
    import tempfile
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "seep_test_module.py")
    with open(path, "w") as f:
        f.write("import __main__ as m\n\nm.keep(bytearray(m.take('import')), 'import')\n")
    sys.path.insert(0, folder)
    import seep_test_module  # noqa: F401
    os.unlink(path)
    import_chain(folder)
    import_again(folder)
    import_cached()


def import_chain(folder):
    """Modules that import each other, each with something to keep before and after, deeper in and further out."""
    for i in range(12):
        with open(os.path.join(folder, "seep_chain_%d.py" % i), "w") as f:
            f.write("import __main__ as m\n"
                    "def deeper(n):\n"
                    "    if n:\n"
                    "        return deeper(n - 1)\n"
                    "    m.keep(bytearray(m.take('chain')), 'chain')\n"
                    "class Body:\n"
                    "    m.keep(bytearray(m.take('class body')), 'class body')\n"
                    "m.keep(bytearray(m.take('before')), 'before')\n"
                    "deeper({0})\n"
                    "{1}"
                    "m.keep(bytearray(m.take('after')), 'after')\n"
                    "deeper({0})\n"
                    "for _ in range(2):\n"
                    "    class Again:\n"
                    "        m.keep(bytearray(m.take('again')), 'again')\n"
                    .format(i % 4, "import seep_chain_%d\n" % (i + 1) if i < 11 else ""))
    __import__("seep_chain_0")


def import_again(folder):
    """One module run again and again, from one line and from another."""
    import importlib
    with open(os.path.join(folder, "seep_again.py"), "w") as f:
        f.write("import __main__ as m\nm.keep(bytearray(m.take('reload')), 'reload')\n")
    module = __import__("seep_again")
    for _ in range(5):
        importlib.reload(module)
        importlib.reload(module)
        del sys.modules["seep_again"]
        import seep_again as module  # noqa: F401


class Cached(object):
    """Finder and loader of a module whose code is made once."""
    code = compile("import __main__ as m\nm.keep(bytearray(m.take('cached')), 'cached')\n", "cached.py", "exec")

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        import importlib.machinery
        return importlib.machinery.ModuleSpec(name, CachedLoader()) if name == "seep_cached" else None


def cached_loader():
    from importlib.abc import InspectLoader

    class Loader(InspectLoader):
        def get_source(self, name):
            return None

        def get_code(self, name):
            return Cached.code
    return Loader()


def import_cached():
    """Nothing is read and nothing compiled between two runs of one code object."""
    global CachedLoader
    CachedLoader = type(cached_loader())
    sys.meta_path.insert(0, Cached)
    try:
        for _ in range(10):
            import seep_cached  # noqa: F401
            del sys.modules["seep_cached"]
            import seep_cached  # noqa: F401, F811
            del sys.modules["seep_cached"]
            exec(Cached.code, {})
            exec(Cached.code, {})
    finally:
        sys.meta_path.remove(Cached)


def group_native():
    """Allocations of libraries that hold or let go of the GIL, and calls back into Python from them."""
    import ctypes
    import mmap
    unlocked, locked = ctypes.CDLL(None), ctypes.PyDLL(None)
    for lib in (unlocked, locked):
        lib.malloc.restype = ctypes.c_void_p
        lib.malloc.argtypes = [ctypes.c_size_t]
    keep(unlocked.malloc(take("without the GIL", extra=0)), "without the GIL")
    keep(locked.malloc(take("with the GIL", extra=0)), "with the GIL")

    def in_thread():
        keep(unlocked.malloc(take("thread without the GIL", extra=0)), "thread without the GIL")
    t = threading.Thread(target=in_thread)
    t.start()
    t.join()
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def callback(a, b):
        keep(bytearray(take("ctypes callback")), "ctypes callback")
        return 0
    array = (ctypes.c_int * 2)(2, 1)
    unlocked.qsort(array, 2, 4, compare(callback))
    keep(mmap.mmap(-1, take("mmap", "shm", 0) // 4096 * 4096), "mmap")
    expected[-1]["bytes"] = expected[-1]["bytes"] // 4096 * 4096


def group_fork():
    """The child's own allocations, and its threads'."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read)
        first = len(expected)
        make("after fork")
        t = threading.Thread(target=make, args=("thread after fork",))
        t.start()
        t.join()
        with os.fdopen(write, "w") as f:
            json.dump(expected[first:], f)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        expected.extend(json.load(f))
    os.waitpid(child, 0)


if __name__ == "__main__":
    groups = sys.argv[1:] or sorted(k[6:] for k in globals() if k.startswith("group_"))
    keep(bytearray(take("module")), "module")
    for current in groups:
        globals()["group_" + current]()
    json.dump(expected, sys.stdout)
    sys.stdout.flush()
    os._exit(0)
