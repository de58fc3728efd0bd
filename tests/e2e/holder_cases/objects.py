"""Attributes, slots, classes, and cycles of objects."""
import dataclasses
import functools
import sys
import types

from case import N, Holder, case

SPACE = types.SimpleNamespace(log=[])


class Base:
    __slots__ = ("payload",)


class Narrow(Base):
    __slots__ = ("number",)


class Wide(Base):
    """Has a dict beside its base's slot."""


class Batch(list):
    pass


class Config(dict):
    pass


class Pair(tuple):
    pass


class Seen(set):
    pass


class Registry(type):
    made = {}

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        if bases:
            Registry.made[name] = cls


class Plugin(metaclass=Registry):
    pass


class Cached:
    """A descriptor that keeps what it has computed."""

    def __init__(self):
        self.values = {}

    def __get__(self, instance, owner):
        return self.values


class Image:
    pixels = Cached()


class Lazy:
    @functools.cached_property
    def masks(self):
        return []


class Finalized:
    def __del__(self):
        pass


@case("held", "local 'held' of an_attribute() (Holder).cache[40 keys][2 keys] (bytearray)")
def an_attribute(then):
    held = Holder()
    for i in range(N):
        held.cache[i] = {"mask": bytearray(20000), "id": i}
    then()


class Slotted:
    __slots__ = ("payload", "next")


@case("held", "local 'head' of a_linked_list() (Slotted).next… (Slotted).payload (bytearray)",
      look="local 'head' of a_linked_list() (Slotted).next", apart=0.03)  # what is behind the first of them
def a_linked_list(then):
    head = None
    for i in range(N):
        one = Slotted()
        one.payload, one.next, head = bytearray(20000), head, one
    del one
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


@case("cycle", "nobody but a cycle (Holder).first (bytearray)")
def a_cycle(then):
    for i in range(N):
        one = Holder()
        one.first, one.me = bytearray(20000), one
    del one
    then()


@case("held", "module objects.SPACE (SimpleNamespace).log[40] (bytearray)")
def a_namespace(then):
    for i in range(N):
        SPACE.log.append(bytearray(20000))
    then()


@case("held", "local 'kept' of slots_of_a_base()[40] (Narrow).payload (bytearray)")
def slots_of_a_base(then):
    kept = []
    for i in range(N):
        one = Narrow()
        one.payload = bytearray(20000)
        kept.append(one)
    del one
    then()


@case("held", "local 'kept' of a_dict_beside_slots()[40] (Wide).mask (bytearray)")
def a_dict_beside_slots(then):
    kept = []
    for i in range(N):
        one = Wide()
        one.payload, one.mask = i, bytearray(20000)
        kept.append(one)
    del one
    then()


@case("held", "local 'batch' of attributes_of_a_list() (Batch).masks[40] (bytearray)")
def attributes_of_a_list(then):
    batch = Batch((1, 2))
    batch.masks = []
    for i in range(N):
        batch.masks.append(bytearray(20000))
    then()


@case("held", "local 'config' of attributes_of_a_dict() (Config).history[40] (bytearray)")
def attributes_of_a_dict(then):
    config = Config(lr=0.1)
    config.history = []
    for i in range(N):
        config.history.append(bytearray(20000))
    then()


@case("held", "local 'pair' of attributes_of_a_tuple() (Pair).extra[40] (bytearray)")
def attributes_of_a_tuple(then):
    pair = Pair((1, 2, 3))
    pair.extra = []
    for i in range(N):
        pair.extra.append(bytearray(20000))
    then()


@case("held", "local 'seen' of attributes_of_a_set() (Seen).order[40] (bytearray)")
def attributes_of_a_set(then):
    seen = Seen((1, 2))
    seen.order = []
    for i in range(N):
        seen.order.append(bytearray(20000))
    then()


@case("held", "module objects.Registry (class Registry).made[40 keys] (class Plugin).table (bytearray)")
def a_registry_of_classes(then):
    for i in range(N):
        made = Registry("Plugin%d" % i, (Plugin,), {"table": bytearray(20000)})
        made.__name__ = "Plugin"
    del made
    then()


@case("held", "module objects.Image (class Image).pixels (Cached).values[40 keys] (bytearray)")
def a_descriptor(then):
    image = Image()
    for i in range(N):
        image.pixels[i] = bytearray(20000)
    del image
    then()


@case("held", "local 'lazy' of a_cached_property() (Lazy).masks[40] (bytearray)")
def a_cached_property(then):
    lazy = Lazy()
    for i in range(N):
        lazy.masks.append(bytearray(20000))
    then()


@case("cycle", "nobody but a cycle (Finalized).mask (bytearray)")
def a_cycle_with_del(then):
    for i in range(N):
        one = Finalized()
        one.mask, one.me = bytearray(20000), one
    del one
    then()


@case("cycle", "nobody but a cycle (Holder).first (bytearray)")
def a_cycle_of_two(then):
    for i in range(N):
        one, other = Holder(), Holder()
        one.cache, other.cache, one.first = other, one, bytearray(20000)
    del one, other
    then()


@case("cycle", "nobody but a cycle (Wide).mask (bytearray)")
def a_cycle_of_three(then):
    for i in range(N):
        a, b, c = Wide(), Holder(), Holder()
        a.payload, b.first, c.first, a.mask = b, c, a, bytearray(20000)
    del a, b, c
    then()


@case("cycle", "nobody but a cycle (list)[1] (bytearray)")
def a_list_in_itself(then):
    for i in range(N):
        one = []
        one.append(one)
        one.append(bytearray(20000))
    del one
    then()


@case("cycle", "nobody but a cycle (function again) __closure__[1] (bytearray)")
def a_cycle_through_a_closure(then):
    def make(mask):
        def again():
            return again, mask
    for i in range(N):
        make(bytearray(20000))
    then()


@dataclasses.dataclass
class Scan:
    number: int
    mask: bytearray


@case("held", "local 'scans' of data_classes()[40] (Scan).mask (bytearray)")
def data_classes(then):
    scans = []
    for i in range(N):
        scans.append(Scan(i, bytearray(20000)))
    then()


class Screen:
    pass


@case("held", "module objects.Screen (class Screen).shots (property).fget (function get) __closure__[0][40] (bytearray)")
def a_property(then):
    def made():
        shots = []

        def get(self):
            return shots
        return property(get)
    Screen.shots = made()
    for i in range(N):
        Screen().shots.append(bytearray(20000))
    then()


@case("held", "module package.settings.kept[40] (bytearray)")
def a_module_of_a_package(then):
    package, settings = types.ModuleType("package"), types.ModuleType("package.settings")
    sys.modules["package"], sys.modules["package.settings"], package.settings = package, settings, settings
    settings.kept = []
    for i in range(N):
        settings.kept.append(bytearray(20000))
    del package, settings
    then()


@case("held", "local 'scenes' of a_dict_of_dicts()[8 keys][5 keys] (bytearray)")
def a_dict_of_dicts(then):
    scenes = {}
    for i in range(N):
        scenes.setdefault(i % 8, {})[i] = bytearray(20000)
    then()
