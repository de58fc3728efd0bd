"""Iterators that hold what they iterate over."""
import itertools

from case import N, case


@case("held", "local 'it' of an_iterator() (list_iterator) → (list)[40] (bytearray)")
def an_iterator(then):
    it = iter([bytearray(20000) for i in range(N)])
    then()
    return it


@case("held", "local 'it' of an_iterator_of_a_dict() (dict_valueiterator) → (dict)[40 keys] (bytearray)")
def an_iterator_of_a_dict(then):
    it = iter({i: bytearray(20000) for i in range(N)}.values())
    then()
    return it


@case("held", "local 'backwards' of a_reversed_list() (list_reverseiterator) → (list)[40] (bytearray)")
def a_reversed_list(then):
    backwards = reversed([bytearray(20000) for i in range(N)])
    then()
    return backwards


@case("held", "local 'it' of a_map() (map) → (tuple)[0] (list_iterator) → (list)[40] (bytearray)")
def a_map(then):
    it = map(len, [bytearray(20000) for i in range(N)])
    then()
    return it


@case("held", "local 'it' of a_zip() (zip) → (tuple)[0] (list_iterator) → (list)[40] (bytearray)")
def a_zip(then):
    it = zip([bytearray(20000) for i in range(N)], range(N))
    then()
    return it


@case("held", "local 'it' of an_enumerate() (enumerate) → (list_iterator) → (list)[40] (bytearray)")
def an_enumerate(then):
    it = enumerate([bytearray(20000) for i in range(N)])
    then()
    return it


@case("held", "local 'it' of a_filter() (filter) → (list_iterator) → (list)[40] (bytearray)")
def a_filter(then):
    it = filter(None, [bytearray(20000) for i in range(N)])
    then()
    return it


@case("held", "local 'again' of an_itertools_cycle() (cycle) → (list)[40] (bytearray)")
def an_itertools_cycle(then):
    again = itertools.cycle(bytearray(20000) for i in range(N))
    for i in range(N + 1):
        next(again)
    then()


@case("held", "local 'late' of a_tee() (_tee) → (_tee_dataobject) → (bytearray)",
      look="local 'late' of a_tee() (_tee) → (_tee_dataobject)")
def a_tee(then):
    early, late = itertools.tee(bytearray(20000) for i in range(N + 10))
    for i in range(N):
        next(early)
    del early
    then()


@case("held", "local 'it' of a_chain() (chain) → (tuple_iterator) → (tuple)[1][40] (bytearray)")
def a_chain(then):
    it = itertools.chain([1], [bytearray(20000) for i in range(N)])
    then()
    return it


@case("held", "local 'it' of a_generator_expression() (generator) its local '.0' (list_iterator) → (list)[40] (bytearray)",
      since={(3, 15): "local 'it' of a_generator_expression() (generator) its local '.0'[40] (bytearray)"})
def a_generator_expression(then):
    it = (len(x) for x in [bytearray(20000) for i in range(N)])
    then()
    return it
