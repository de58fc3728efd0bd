"""Functions, closures, frames that are kept, and threads."""
import functools
import sys
import threading
import weakref

from case import N, Holder, case


class Reader:
    @functools.lru_cache(maxsize=64)
    def load(self, i):
        return bytearray(20000)


class Pause:
    def __await__(self):
        yield


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


@case("held", "local 'decode' of an_lru_cache() (_lru_cache_wrapper) its cache[40 keys] (bytearray)")
def an_lru_cache(then):
    @functools.lru_cache(maxsize=None)
    def decode(i):
        return bytearray(20000)
    for i in range(N):
        decode(i)
    then()


@case("held", "local 'steps' of a_generator() (generator) its local 'kept'[40] (bytearray)")
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


@case("held", "local 'kept' of exceptions()[40] (ValueError).__traceback__ (traceback).tb_next (traceback).tb_frame (frame) its "
      "local 'mine' (bytearray)")
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


@case("held", "module functions.Reader (class Reader).load (_lru_cache_wrapper) its cache[40 keys] "
      "(bytearray)", bound=64)
def an_lru_cache_on_a_method(then):
    reader = Reader()
    for i in range(N):
        reader.load(i)
    del reader
    then()


@case("held", "local 'hooks' of keywords_of_a_partial()[40] (partial).keywords[1 keys] (bytearray)")
def keywords_of_a_partial(then):
    hooks = []
    for i in range(N):
        hooks.append(functools.partial(print, end=bytearray(20000)))
    then()


@case("held", "local 'f' of a_closure_in_a_closure() (function outer) __closure__[0] (function inner) __closure__[0][40] "
      "(bytearray)")
def a_closure_in_a_closure(then):
    def made():
        seen = []

        def inner():
            seen.append(bytearray(20000))

        def outer():
            inner()
        return outer
    f = made()
    for i in range(N):
        f()
    then()


@case("held", "local 'keep' of a_default_of_a_keyword() (function keep) __kwdefaults__[1 keys][40] (bytearray)")
def a_default_of_a_keyword(then):
    def keep(x, *, kept=[]):
        kept.append(x)
    for i in range(N):
        keep(bytearray(20000))
    then()


@case("held", "local 'step' of an_attribute_of_a_function() (function step).seen[40] (bytearray)")
def an_attribute_of_a_function(then):
    def step():
        pass
    step.seen = []
    for i in range(N):
        step.seen.append(bytearray(20000))
    then()


@case("held", "local 'waits' of a_coroutine() (coroutine) its local 'kept'[40] (bytearray)")
def a_coroutine(then):
    async def collect():
        kept = []
        while True:
            kept.append(bytearray(20000))
            await Pause()
    waits = collect()
    for i in range(N):
        waits.send(None)
    then()
    waits.close()


@case("held", "local 'items' of an_async_generator() (async_generator) its local 'kept'[40] (bytearray)")
def an_async_generator(then):
    async def collect():
        kept = []
        while True:
            kept.append(bytearray(20000))
            yield len(kept)
    items = collect()
    for i in range(N):
        try:
            items.asend(None).send(None)
        except StopIteration:
            pass
    then()


@case("held", "local 'frames' of frames()[40] (frame) its local 'mine' (bytearray)")
def frames(then):
    def here():
        mine = bytearray(20000)
        return sys._getframe(), mine
    frames = []
    for i in range(N):
        frames.append(here()[0])
    then()


@case("held", "local 'chained' of causes()[40] (KeyError).__cause__ (ValueError).args[0] (bytearray)")
def causes(then):
    chained = []
    for i in range(N):
        error = KeyError(i)
        error.__cause__ = ValueError(bytearray(20000))
        chained.append(error)
    del error
    then()


@case("held", "local 'add' of a_method_of_a_list() (builtin_function_or_method).__self__[40] (bytearray)")
def a_method_of_a_list(then):
    add = [].append
    for i in range(N):
        add(bytearray(20000))
    then()


@case("held", "local 'ref' of a_callback() (weakref) its callback (function forget) __closure__[0][40] (bytearray)",
      since={(3, 10): "local 'ref' of a_callback() (ReferenceType) its callback (function forget) __closure__[0][40] "
                      "(bytearray)"})
def a_callback(then):
    def made(target):
        seen = []

        def forget(_):
            seen.clear()
        for i in range(N):
            seen.append(bytearray(20000))
        return weakref.ref(target, forget)
    target = Holder()
    ref = made(target)
    then()
    return ref


@case("held", "module functions.LOCAL (_local).kept[40] (bytearray)")
def a_thread_local(then):
    LOCAL.kept = []
    for i in range(N):
        LOCAL.kept.append(bytearray(20000))
    then()


LOCAL = threading.local()
