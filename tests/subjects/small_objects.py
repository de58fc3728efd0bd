"""Keeps N small objects of each kind in a list of its own, prints {list: bytes} by their own sizes, and waits until its
input ends."""
import json
import sys

N = 4000


class Node:
    __slots__ = ("number", "name", "rest")

    def __init__(self, i):
        self.number, self.name, self.rest = i, "node %d" % i, [i]


class Text(str):
    __slots__ = ()


MAKE = {
    "short_texts": lambda i: "%d" % i,
    "names": lambda i: "layer.%d.attention.weight" % i,
    "accented": lambda i: "é%d" % i,
    "greek": lambda i: "λόγος %d" % i,
    "texts_of_a_class": lambda i: Text(i),
    "bytes_": lambda i: b"%d" % i,
    "ints": lambda i: i,
    "large_ints": lambda i: i << 200,
    "floats": float,
    "complexes": complex,
    "tuples": lambda i: tuple([None, True]),
    "lists": lambda i: [None] * 3,
    "sets": lambda i: set(),
    "dicts": lambda i: {None: None, True: False},
    "slots": Node,
    "objects": lambda i: object(),
    "bytearrays": lambda i: bytearray(3),
    "bound_methods": lambda i: "".join,
}


def blocks(thing):
    """The bytes of each block that goes with it. Numbers below 257 and what is interned are the interpreter's."""
    size = sys.getsizeof(thing)
    if isinstance(thing, Node):
        return [size, *blocks(thing.number), *blocks(thing.name), *blocks(thing.rest)]
    if isinstance(thing, (list, bytearray)):
        items = thing.__alloc__() if isinstance(thing, bytearray) else size - sys.getsizeof([])
        return [size - items, items]
    return [size]


def rounded(size):
    return (size + 15) // 16 * 16


numbers = list(range(1000, 1000 + N))
for name in MAKE:
    globals()[name] = [MAKE[name](i) for i in (range(1000, 1000 + N) if name in ("ints", "slots") else numbers)]
account = {name: sum(rounded(size) for thing in [[], *globals()[name]] for size in blocks(thing)) for name in MAKE}
print(json.dumps({name: size + 8 * N for name, size in account.items()}), flush=True)
sys.stdin.read()
