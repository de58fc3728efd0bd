"""Names that are not ASCII: one byte a character, two, and four."""
from case import N, case


class Größe:
    pass


@case("held", "local 'größe' of a_name_of_latin_1()[40] (bytearray)")
def a_name_of_latin_1(then):
    größe = []
    for i in range(N):
        größe.append(bytearray(20000))
    then()


@case("held", "local '缓存' of a_name_of_two_bytes()[40] (bytearray)")
def a_name_of_two_bytes(then):
    缓存 = []
    for i in range(N):
        缓存.append(bytearray(20000))
    then()


@case("held", "local '𠀀' of a_name_of_four_bytes()[40] (bytearray)")
def a_name_of_four_bytes(then):
    𠀀 = []
    for i in range(N):
        𠀀.append(bytearray(20000))
    then()


@case("held", "local 'kept' of an_attribute_of_two_bytes() (Größe).缓存[40] (bytearray)")
def an_attribute_of_two_bytes(then):
    kept = Größe()
    kept.缓存 = []
    for i in range(N):
        kept.缓存.append(bytearray(20000))
    then()


@case("held", "local 'made' of a_function_of_latin_1() (function zähle) __closure__[0][40] (bytearray)")
def a_function_of_latin_1(then):
    def outer():
        stufen = []

        def zähle():
            stufen.append(bytearray(20000))
        return zähle
    made = outer()
    for i in range(N):
        made()
    then()
