"""Python's ways to keep something, all at once: usage: holder_cases.py FIRST COUNT.

Each case makes N blocks on a line of its own and calls what comes next while it holds them; the last asks seep who
does. EXPECTED says what it must answer for the case's function."""
import collections
import functools
import gc
import logging
import queue
import sys
import threading
import types
import weakref

import seep

N = 40
EXPECTED = {}
CASES = []


def case(*text):
    def add(function):
        EXPECTED[function.__name__] = list(text)
        CASES.append(function)
        return function
    return add


class Holder:
    kept = []

    def __init__(self):
        self.cache = {}
        self.first = None


class Recorder(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


class Slotted:
    __slots__ = ("payload", "next")


@case("held", "local 'history' of a_list()[40] (bytearray)")
def a_list(then):
    history = []
    for i in range(N):
        history.append(bytearray(20000))
    then()


@case("held", "module __main__.MODULE_LIST[40] (bytearray)")
def a_module_list(then):
    for i in range(N):
        MODULE_LIST.append(bytearray(20000))
    then()


@case("held", "local 'd' of a_dict()[40 keys] (bytearray)")
def a_dict(then):
    d = {}
    for i in range(N):
        d["image %d" % i] = bytearray(20000)
    then()


@case("held", "local 'd' of a_dict_of_numbers()[40 keys] (bytearray)")
def a_dict_of_numbers(then):
    d = {}
    for i in range(N):
        d[i] = bytearray(20000)
    then()


@case("held", "local 'held' of an_attribute() (Holder).cache[40 keys][2 keys] (bytearray)")
def an_attribute(then):
    held = Holder()
    for i in range(N):
        held.cache[i] = {"mask": bytearray(20000), "id": i}
    then()


@case("held", "module __main__.Holder (class Holder).kept[40] (bytearray)")
def a_class_attribute(then):
    for i in range(N):
        Holder.kept.append(bytearray(20000))
    then()


@case("held", "local 'q' of a_deque()[40] (bytearray)")
def a_deque(then):
    q = collections.deque(maxlen=100)
    for i in range(N):
        q.append(bytearray(20000))
    then()


@case("held", "local 'q' of a_queue() (Queue).queue[40] (bytearray)")
def a_queue(then):
    q = queue.Queue()
    for i in range(N):
        q.put(bytearray(20000))
    then()


@case("held", "local 'f' of a_closure() (function add) __closure__[0][40] (bytearray)")
def a_closure(then):
    def made():
        seen = []

        def add():
            seen.append(bytearray(20000))
        return add
    f = made()
    for i in range(N):
        f()
    then()


@case("held", "local 'f' of a_default() (function keep) __defaults__[0][40] (bytearray)")
def a_default(then):
    def keep(x, kept=[]):
        kept.append(x)
    f = keep
    del keep
    for i in range(N):
        f(bytearray(20000))
    then()


@case("held", "local 'hooks' of a_partial()[40] (partial).args[0] (bytearray)")
def a_partial(then):
    hooks = []
    for i in range(N):
        hooks.append(functools.partial(print, bytearray(20000)))
    then()


@case("held", "local 'd' of a_defaultdict()[8 keys][5] (bytearray)", "local 'd' of a_defaultdict()[8 keys][0] (bytearray)")
def a_defaultdict(then):
    d = collections.defaultdict(list)
    for i in range(N):
        d[i % 8].append(bytearray(20000))
    then()


@case("held", "local 'd' of an_ordered_dict()[40 keys] (bytearray)")
def an_ordered_dict(then):
    d = collections.OrderedDict()
    for i in range(N):
        d[i] = bytearray(20000)
    then()


@case("held", "local 's' of a_set(){40} (Holder).first (bytearray)")
def a_set(then):
    s = set()
    for i in range(N):
        one = Holder()
        one.first = bytearray(20000)
        s.add(one)
    del one
    then()


@case("held", "local 'head' of a_linked_list() (Slotted).next… (Slotted).payload (bytearray)")
def a_linked_list(then):
    head = None
    for i in range(N):
        one = Slotted()
        one.payload, one.next, head = bytearray(20000), head, one
    del one
    then()


@case("held", "local 'strong' of a_weak_dict()[40] (Holder).first (bytearray)")
def a_weak_dict(then):
    weak, strong = weakref.WeakValueDictionary(), []
    for i in range(N):
        one = Holder()
        one.first = bytearray(20000)
        weak[i] = one
        strong.append(one)
    del one
    then()


@case("held", "local 'w' of a_weak_key_dict() (WeakKeyDictionary).data[40 keys] (bytearray)")
def a_weak_key_dict(then):
    keys = [Holder() for i in range(N)]
    w = weakref.WeakKeyDictionary()
    for key in keys:
        w[key] = bytearray(20000)
    del key
    then()


@case("held", "local 'decode' of an_lru_cache() (_lru_cache_wrapper) its cache[40 keys] (bytearray)")
def an_lru_cache(then):
    @functools.lru_cache(maxsize=None)
    def decode(i):
        return bytearray(20000)
    for i in range(N):
        decode(i)
    then()


@case("held", "local 'steps' of a_generator() (generator) its local 'kept'[40] (bytearray)",
      "local 'steps' of a_generator() (frame) its local 'kept'[40] (bytearray)")
def a_generator(then):
    def collect():
        kept = []
        while True:
            kept.append(bytearray(20000))
            yield
    steps = collect()
    for i in range(N):
        next(steps)
    then()


@case("held", "local 'callbacks' of bound_methods()[40] (method).__self__ (Holder).first (bytearray)")
def bound_methods(then):
    callbacks = []
    for i in range(N):
        one = Holder()
        one.first = bytearray(20000)
        callbacks.append(one.__init__)
    del one
    then()


@case("shared", "local 'a' of two_lists()[40] (bytearray)", "local 'b' of two_lists()[40] (bytearray)")
def two_lists(then):
    a, b = [], []
    for i in range(N):
        a.append(bytearray(20000))
        b.append(a[-1])
    then()


@case("cycle", "nobody but a cycle (Holder).first (bytearray)")
def a_cycle(then):
    for i in range(N):
        one = Holder()
        one.first, one.me = bytearray(20000), one
    del one
    then()


@case("held", "module __main__.SPACE (SimpleNamespace).log[40] (bytearray)")
def a_namespace(then):
    for i in range(N):
        SPACE.log.append(bytearray(20000))
    then()


@case("held", "local 'kept' of tuples_in_a_list()[40][1] (bytearray)")
def tuples_in_a_list(then):
    kept = []
    for i in range(N):
        kept.append((i, bytearray(20000)))
    then()


@case("held", "local 'kept' of exceptions()[40] (ValueError) → (traceback) → (traceback).tb_frame (frame) its local 'mine' "
      "(bytearray)")
def exceptions(then):
    def fail():
        mine = bytearray(20000)
        raise ValueError(len(mine))
    kept = []
    for i in range(N):
        try:
            fail()
        except ValueError as e:
            kept.append(e)
    then()


@case("held", "module logging.Logger (class Logger).manager (Manager).loggerDict[1 keys] (Logger).handlers[0] (Recorder)"
      ".records[40] (LogRecord).args[0] (bytearray)")
def log_records(then):
    log = logging.getLogger("train")
    log.addHandler(Recorder())
    log.propagate = False
    for i in range(N):
        log.warning("%s", bytearray(20000))
    del log
    then()


@case("held", "local 'mine' of in_another_thread()[40] (bytearray)")
def another_thread(then):
    ready, done = threading.Event(), threading.Event()

    def in_another_thread():
        mine = []
        for i in range(N):
            mine.append(bytearray(20000))
        ready.set()
        done.wait()
        return mine
    thread = threading.Thread(target=in_another_thread)
    thread.start()
    ready.wait()
    then()
    done.set()
    thread.join()


MODULE_LIST = []
SPACE = types.SimpleNamespace(log=[])


def run(cases):
    if cases:
        cases[0](lambda: run(cases[1:]))
    else:
        seep.holders()


if __name__ == "__main__":
    gc.disable()
    first, count = int(sys.argv[1]), int(sys.argv[2])
    run(CASES[first:first + count])
