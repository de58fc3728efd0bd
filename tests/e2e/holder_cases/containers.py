"""Containers of the language and of collections."""
import collections
import queue
import types
import weakref

from case import N, Holder, case

MODULE_LIST = []


class Shelf:
    kept = []


Sample = collections.namedtuple("Sample", "number mask")


@case("held", "local 'history' of a_list()[40] (bytearray)")
def a_list(then):
    history = []
    for i in range(N):
        history.append(bytearray(20000))
    then()


@case("held", "module containers.MODULE_LIST[40] (bytearray)")
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


@case("held", "module containers.Shelf (class Shelf).kept[40] (bytearray)")
def a_class_attribute(then):
    for i in range(N):
        Shelf.kept.append(bytearray(20000))
    then()


@case("held", "local 'q' of a_deque()[40] (bytearray)", bound=100)
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


@case("shared", "local 'a' of two_lists()[40] (bytearray)", "local 'b' of two_lists()[40] (bytearray)")
def two_lists(then):
    a, b = [], []
    for i in range(N):
        a.append(bytearray(20000))
        b.append(a[-1])
    then()


@case("held", "local 'kept' of tuples_in_a_list()[40][1] (bytearray)")
def tuples_in_a_list(then):
    kept = []
    for i in range(N):
        kept.append((i, bytearray(20000)))
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


@case("held", "local 'd' of a_dict_of_lists()[2 keys][20] (bytearray)")
def a_dict_of_lists(then):
    d = {"train": [], "valid": []}
    for i in range(N):
        d["train" if i % 2 else "valid"].append(bytearray(20000))
    then()


@case("held", "local 'found' of a_counter()[40 keys] (bytearray)")
def a_counter(then):
    found = collections.Counter()
    for i in range(N):
        found[i] = bytearray(20000)
    then()


@case("held", "local 'kept' of named_tuples()[40][1] (bytearray)")
def named_tuples(then):
    kept = []
    for i in range(N):
        kept.append(Sample(i, bytearray(20000)))
    then()


@case("held", "local 'settings' of a_chain_map() (ChainMap).maps[1][40 keys] (bytearray)")
def a_chain_map(then):
    settings = collections.ChainMap({}, {})
    for i in range(N):
        settings.maps[1][i] = bytearray(20000)
    then()


@case("held", "local 'texts' of a_user_dict() (UserDict).data[40 keys] (bytearray)")
def a_user_dict(then):
    texts = collections.UserDict()
    for i in range(N):
        texts[i] = bytearray(20000)
    then()


@case("held", "local 'seen' of keys_of_a_dict() (dict) a key (Holder).first (bytearray)")
def keys_of_a_dict(then):
    seen = {}
    for i in range(N):
        one = Holder()
        one.first = bytearray(20000)
        seen[one] = i
    del one
    then()


@case("held", "local 's' of a_frozenset(){40} (Holder).first (bytearray)")
def a_frozenset(then):
    made = []
    for i in range(N):
        one = Holder()
        one.first = bytearray(20000)
        made.append(one)
    s = frozenset(made)
    del one, made
    then()
    return s


@case("held", "local 'last' of a_bounded_deque()[40] (bytearray)", bound=64)
def a_bounded_deque(then):
    last = collections.deque(maxlen=64)
    for i in range(N):
        last.append(bytearray(20000))
    then()


@case("held", "local 'jobs' of a_priority_queue() (PriorityQueue).queue[40][1] (bytearray)")
def a_priority_queue(then):
    jobs = queue.PriorityQueue()
    for i in range(N):
        jobs.put((i, bytearray(20000)))
    then()


@case("held", "local 'view' of a_mapping_proxy()[40 keys] (bytearray)")
def a_mapping_proxy(then):
    inner = {}
    for i in range(N):
        inner[i] = bytearray(20000)
    view = types.MappingProxyType(inner)
    del inner
    then()


@case("held", "local 'view' of a_view_of_values() (dict_values) → (dict)[40 keys] (bytearray)")
def a_view_of_values(then):
    d = {}
    for i in range(N):
        d[i] = bytearray(20000)
    view = d.values()
    del d
    then()
    return view


@case("held", "local 'texts' of long_texts()[40] (str)")
def long_texts(then):
    texts = []
    for i in range(N):
        texts.append("x" * (20000 + i))
    then()


@case("shared", "local 'a' of a_list_and_a_dict()[40] (bytearray)", "local 'd' of a_list_and_a_dict()[40 keys] (bytearray)")
def a_list_and_a_dict(then):
    a, d = [], {}
    for i in range(N):
        a.append(bytearray(20000))
        d[i] = a[-1]
    then()


@case("shared", "local 'a' of three_lists()[40] (bytearray)", "local 'b' of three_lists()[40] (bytearray)",
      "local 'c' of three_lists()[40] (bytearray)")
def three_lists(then):
    a, b, c = [], [], []
    for i in range(N):
        a.append(bytearray(20000))
        b.append(a[-1])
        c.append(a[-1])
    then()
