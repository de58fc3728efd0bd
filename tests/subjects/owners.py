"""Objects of many types, each the only owner of a list in one of its fields: what CPython's traversal of the type visits
must be followed. Prints a line of JSON with their names, waits for the end of its input.

owners.py extra: EXTRA lists more have a reference each that is never given back."""
import ast
import asyncio
import collections
import contextvars
import ctypes
import datetime
import decimal
import enum
import functools
import io
import itertools
import json
import operator
import os
import queue
import random
import sys
import threading
import types
import weakref

OWNERS = {}
EXTRA = 10
BYTES = 100 * 160  # each list holds more
FUNCTION = """
def function(argument: "annotation"):
    return argument
"""
COROUTINE = """
async def coroutine(default=VALUE):
    await other
"""
TYPE_PARAMETERS = """
def generic[T: VALUE](argument):
    return argument
class Generic[T: VALUE]:
    pass
type Alias = VALUE
"""


class Target:
    def method(self):
        return self

    def __del__(self):
        pass


target = Target()


def items():
    return ["%s %06d " % (os.urandom(4).hex(), i) + "x" * 100 for i in range(100)]


def owner(make):
    """Keeps what the function makes with a list that nobody else refers to."""
    OWNERS[make.__name__] = make(items())
    return make


def with_attribute(cls, *arguments):
    made = type("Sub", (cls,), {})(*arguments)
    made.extra = items()
    return made


SUBCLASSED = [(int, 5), (float, 5.0), (complex, 5), (bytes, b"x"), (bytearray, b"x"), (str, "x"), (tuple, (1,)),
              (list,), (dict,), (set,), (frozenset, [1]), (weakref.ref, target), (types.ModuleType, "m"),
              (collections.deque,), (collections.OrderedDict,), (collections.defaultdict,), (ValueError,), (OSError, 1, "x"),
              (functools.partial, print), (io.BytesIO,), (io.StringIO,), (random.Random,), (property,),
              (itertools.count,), (queue.SimpleQueue,), (classmethod, print), (staticmethod, print),
              (threading.local,), (datetime.datetime, 2020, 1, 1), (datetime.timedelta, 1), (decimal.Decimal, 1),
              (collections.Counter,), (collections.namedtuple("Pair", "a b"), 1, 2), (ctypes.c_int, 1), (super, list, []),
              (reversed, "x"), (enumerate, [1]), (zip, [1]), (map, print, [1]), (filter, print, [1])]
for _base, *_arguments in SUBCLASSED:
    OWNERS["subclass of " + _base.__name__] = with_attribute(_base, *_arguments)


class Color(enum.IntEnum):
    RED = 1


Color.RED.cache = items()
OWNERS["IntEnum"] = Color


class Slots(weakref.ref):
    __slots__ = ("extra",)


class Meta(type):
    pass


slots = Slots(target)
slots.extra = items()
OWNERS["weakref with slots"] = slots


@owner
def metaclass(value):
    return Meta("Made", (), {"value": value})


@owner
def class_of_metaclass(value):
    return type("OwnMeta", (type,), {"value": value})("Made", (), {})


@owner
def annotations(value):
    scope = {}
    exec(FUNCTION, scope)
    scope["function"].__annotations__["argument"] = value
    return scope.pop("function")


@owner
def annotate(value):
    def function():
        pass
    function.__annotate__ = lambda format: {"x": value}  # an attribute up to 3.13
    return function


@owner
def function_doc(value):
    def function():
        pass
    function.__doc__ = value
    return function


@owner
def function_module(value):
    def function():
        pass
    function.__module__ = value
    return function


@owner
def builtins_of_function(value):
    scope = {"__builtins__": {"value": value}}
    exec(FUNCTION, scope)
    function = scope.pop("function")
    return function


@owner
def globals_of_function(value):
    scope = {"value": value, "__builtins__": __builtins__}
    exec(FUNCTION, scope)
    return scope.pop("function")


@owner
def constants(value):
    def function():
        pass
    code = function.__code__
    return code.replace(co_consts=code.co_consts + tuple(value))


def generator_of(function):
    generator = function()
    next(generator)
    return generator


@owner
def function_of_generator(value):
    def inner(default=value):
        yield 1
    del value
    return generator_of(inner)


@owner
def function_of_new_generator(value):
    def inner(default=value):
        yield 1
    return inner()


@owner
def function_of_finished_generator(value):
    def inner():
        yield 1
    generator = inner()
    generator.__name__ = type("Name", (str,), {})("name")
    generator.__name__.value = value
    list(generator)
    return generator


@owner
def coroutine(value):
    scope = {"VALUE": value, "other": None}
    exec(COROUTINE, scope)
    del scope["VALUE"]
    made = scope.pop("coroutine")()
    return made


@owner
def async_generator(value):
    scope = {"VALUE": value}
    exec("async def made(default=VALUE):\n    yield default\n", scope)
    del scope["VALUE"]
    return scope.pop("made")()


@owner
def trace_of_frame(value):
    def inner():
        return sys._getframe()
    frame = inner()
    frame.f_trace = functools.partial(print, value)
    return frame


@owner
def locals_of_frame(value):
    def inner():
        own = value  # noqa: F841
        return sys._getframe()
    frame = inner()
    del value
    frame.f_locals["more"] = items()
    return frame


@owner
def traceback(value):
    def inner():
        own = value  # noqa: F841
        raise ValueError
    try:
        inner()
    except ValueError as error:
        return error.__traceback__


@owner
def exception(value):
    error, error.__cause__ = ValueError(value), KeyError(items())
    error.__context__ = KeyError(items())
    error.__notes__ = items()
    return error


@owner
def module_name(value):
    name = type("Name", (str,), {})("a name")
    name.value = value
    module = types.ModuleType(name)
    del module.__name__
    return module


@owner
def context(value):
    made = contextvars.copy_context()
    made.run(contextvars.ContextVar("variable").set, value)
    return made


@owner
def token(value):
    variable = contextvars.ContextVar("variable", default=value)
    return contextvars.copy_context().run(variable.set, items())


@owner
def future(value):
    loop = asyncio.new_event_loop()
    made = loop.create_future()
    made.set_result(value)
    made.add_done_callback(functools.partial(print, items()))
    return made, loop


@owner
def weak_callback(value):
    return weakref.ref(target, functools.partial(print, value)), weakref.proxy(target, functools.partial(print, items()))


@owner
def bound(value):
    return types.MethodType(print, value), value.append.__self__.append, value.__len__


@owner
def type_parameters(value):
    if sys.version_info < (3, 12):
        return value
    scope = {"VALUE": value}
    exec(TYPE_PARAMETERS, scope)
    parameters = [scope[name].__type_params__[0] for name in ("generic", "Generic")]
    assert all(parameter.__bound__ is value for parameter in parameters) and scope["Alias"].__value__ is value
    del scope["VALUE"]
    return parameters


@owner
def type_parameters_of_function(value):
    if sys.version_info < (3, 12):
        return value
    def function():
        pass
    function.__type_params__ = (value,)
    return function


SMALL = [
    ("property", lambda v: property(functools.partial(print, v), functools.partial(print, items()))),
    ("partial", lambda v: functools.partial(print, v, key=items())),
    ("staticmethod", lambda v: staticmethod(v)),
    ("slice", lambda v: slice(v, items(), items())),
    ("memoryview", lambda v: memoryview(with_attribute(bytearray, b"xy"))),
    ("list iterator", iter),
    ("reversed", reversed),
    ("dict views", lambda v: ({1: v}.keys(), {1: items()}.values(), {1: items()}.items())),
    ("dict iterators", lambda v: (iter({1: v}), iter({1: items()}.values()), iter({1: items()}.items()))),
    ("set iterator", lambda v: iter(set(v))),
    ("zip", lambda v: zip(v, items())),
    ("map", lambda v: map(functools.partial(print, items()), v)),
    ("filter", lambda v: filter(functools.partial(print, items()), v)),
    ("enumerate", enumerate),
    ("callable iterator", lambda v: iter(functools.partial(print, v), items())),
    ("itemgetter", lambda v: operator.itemgetter(v)),
    ("methodcaller", lambda v: operator.methodcaller("name", v, key=items())),
    ("chain", lambda v: itertools.chain(v, items())),
    ("cycle", lambda v: itertools.cycle(v)),
    ("repeat", lambda v: itertools.repeat(v)),
    ("product", lambda v: itertools.product(v, items())),
    ("tee", lambda v: itertools.tee(v)),
    ("groupby", lambda v: itertools.groupby(v)),
    ("accumulate", lambda v: itertools.accumulate(v)),
    ("islice", lambda v: itertools.islice(v, 1, 5)),
    ("deque iterator", lambda v: iter(collections.deque(v))),
    ("mappingproxy", lambda v: types.MappingProxyType({1: v})),
    ("namespace", lambda v: types.SimpleNamespace(value=v)),
    ("cell", lambda v: (lambda: v).__closure__[0]),
    ("super", lambda v: super(list, with_attribute(list))),
    ("lru_cache", lambda v: functools.lru_cache(None)(functools.partial(print, v))),
    ("cached_property", lambda v: functools.cached_property(functools.partial(print, v))),
    ("cmp_to_key", lambda v: functools.cmp_to_key(print)(v)),
    ("ast", lambda v: ast.Constant(value=v)),
    ("buffered", lambda v: io.TextIOWrapper(io.BufferedWriter(with_attribute(io.BytesIO)))),
    ("timezone", lambda v: datetime.datetime(2020, 1, 1, tzinfo=with_attribute(datetime.tzinfo))),
    ("json encoder", lambda v: json.JSONEncoder(default=functools.partial(print, v))),
    ("py_object", lambda v: ctypes.py_object(v)),
    ("ctypes callback", lambda v: ctypes.CFUNCTYPE(None)(functools.partial(print, v))),
    ("weak dict", lambda v: weakref.WeakKeyDictionary({target: v})),
    ("thread", lambda v: threading.Thread(target=print, args=(v,))),
    ("generic alias", lambda v: types.GenericAlias(list, (tuple(v),)) if sys.version_info >= (3, 9) else v),
    ("user's cycle", lambda v: v.append(v) or v),
]
for _name, _make in SMALL:
    OWNERS[_name] = _make(items())

if "extra" in sys.argv:
    for _ in range(EXTRA):
        lost = items()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(lost))
    del lost
print(json.dumps({"bytes": BYTES, "owners": list(OWNERS), "extra": EXTRA}), flush=True)
sys.stdin.read()
os._exit(0)
