"""Memory of objects that are not containers: arrays, buffers, maps."""
import array
import ctypes
import mmap

from case import N, case


class Frame(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("number", ctypes.c_int)]


@case("held", "local 'kept' of arrays()[40] (array)")
def arrays(then):
    kept = []
    for i in range(N):
        kept.append(array.array("B", bytes(20000)))
    then()


@case("held", "local 'views' of memory_views()[40] (memoryview)",
      since={(3, 15): "local 'views' of memory_views()[40] (memoryview) → (bytearray)"})
def memory_views(then):
    views = []
    for i in range(N):
        views.append(memoryview(bytearray(20000)))
    then()


@case("held", "local 'maps' of anonymous_maps()[40] (mmap)", apart=-(-20480 // mmap.PAGESIZE) * mmap.PAGESIZE / 20000 - 0.98)
def anonymous_maps(then):  # of whole pages
    maps = []
    for i in range(N):
        maps.append(mmap.mmap(-1, 20480))
        maps[-1].write(bytes(20480))
    then()


@case("held", "local 'kept' of ctypes_buffers()[40] (c_char_Array_20000)")
def ctypes_buffers(then):
    kept = []
    for i in range(N):
        kept.append(ctypes.create_string_buffer(20000))
    then()


@case("held", "local 'kept' of ctypes_structures()[40] (Frame)._objects[1 keys] (bytes)")
def ctypes_structures(then):
    kept = []
    for i in range(N):
        one = Frame()
        one.text = bytes(20000)
        kept.append(one)
    del one
    then()


@case("held", "local 'kept' of numpy_arrays()[40] (ndarray)", needs="numpy")
def numpy_arrays(then):
    import numpy
    kept = []
    for i in range(N):
        kept.append(numpy.zeros(2500))
    then()


@case("held", "local 'kept' of numpy_points()[20000] (ndarray)", needs="numpy", whole=True,
      apart=0.15)  # two of glibc's blocks of 24 bytes for 16 and 16 of them
def numpy_points(then):
    """Their data is as small as what tells their axes, and their heads lie in arenas."""
    import numpy
    kept = []
    for i in range(500 * N):
        kept.append(numpy.zeros(2))
    then()


@case("held", "local 'views' of numpy_views()[40] (ndarray).base (ndarray)", needs="numpy")
def numpy_views(then):
    import numpy
    views = []
    for i in range(N):
        views.append(numpy.zeros(2500)[1000:])
    then()


@case("held", "local 'kept' of an_array_of_objects()[40] (bytearray)", needs="numpy")
def an_array_of_objects(then):
    import numpy
    kept = numpy.empty(N, dtype=object)
    for i in range(N):
        kept[i] = bytearray(20000)
    then()


@case("held", "local 'kept' of structured_arrays()[40] (ndarray)", needs="numpy")
def structured_arrays(then):
    import numpy
    kept = []
    for i in range(N):
        kept.append(numpy.zeros(1250, dtype=[("x", "f8"), ("y", "f8")]))
    then()


@case("held", "local 'blobs' of byte_strings()[40] (bytes)")
def byte_strings(then):
    blobs = []
    for i in range(N):
        blobs.append(bytes(20000))
    then()


@case("held", "local 'texts' of texts_of_latin_1()[40] (str)")
def texts_of_latin_1(then):
    texts = []
    for i in range(N):
        texts.append("\xfc" * (20000 + i))
    then()


@case("held", "local 'texts' of texts_of_two_bytes()[40] (str)")
def texts_of_two_bytes(then):
    texts = []
    for i in range(N):
        texts.append("\u7f13" * (10000 + i))
    then()


@case("held", "local 'texts' of texts_of_four_bytes()[40] (str)")
def texts_of_four_bytes(then):
    texts = []
    for i in range(N):
        texts.append("\U00020000" * (5000 + i))
    then()
