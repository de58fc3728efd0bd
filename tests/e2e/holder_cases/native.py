"""What C and C++ keep, or forget. The libraries are built by the test, in the folder that SEEP_CASE_LIBRARIES names."""
import ctypes
import os

from case import N, case


def library(name):
    return ctypes.CDLL(os.path.join(os.environ["SEEP_CASE_LIBRARIES"], name))


@case("lost")
def forgotten_by_c(then):
    forget = library("libkeeps.so").forget
    for i in range(N):
        forget(20000)
    then()


@case("held", "global 'kept' of libkeeps.so", look=None)  # each by itself is too small for a word
def a_global_of_c(then):
    keep = library("libkeeps.so").keep
    for i in range(N):
        keep(i, 20000)
    then()


@case("held", "global 'head' of libkeeps.so → C++ (1 block)", look="global 'head' of libkeeps.so")  # to the nearest of them
def a_list_of_c(then):
    push = library("libkeeps.so").push
    for i in range(N):
        push(20000)
    then()


# Of a library that is loaded later in a block of malloc's; on 64-bit Arm in what glibc keeps free for such, where it fits.
@case("held", "thread-local storage → C++ (1 block)", "thread-local storage", look=None)
def a_thread_local_of_c(then):
    keep = library("libkeeps.so").keep_for_thread
    for i in range(N):
        keep(i, 20000)
    then()


@case("held", "global 'cache::images' of libkeepsxx.so → C++ (1 block)", look="global 'cache::images' of libkeepsxx.so",
      apart=1.1)  # the vector's spare room still has addresses of others
def a_static_vector(then):
    keep = library("libkeepsxx.so").keep
    for i in range(N):
        keep(20000)
    then()


@case("held", "local 'table' of a_table_by_its_end() (c_void_p) → C++ (1 block)", look=None)
def a_table_by_its_end(then):
    keeps = library("libkeeps.so")
    keeps.new_table.restype = ctypes.c_void_p
    table = ctypes.c_void_p(keeps.new_table())
    for i in range(N):
        keeps.put(table, i, 20000)
    then()


@case("held", "local 'handles' of handles_that_are_numbers()[40] (int)", look=None)
def handles_that_are_numbers(then):
    new_block = library("libkeeps.so").new_block
    new_block.restype = ctypes.c_void_p
    handles = []
    for i in range(N):
        handles.append(new_block(20000))
    then()


@case("reference", "a reference that was never given back (bytearray)")
def references_never_given_back(then):
    take = ctypes.pythonapi.Py_IncRef
    take.argtypes = [ctypes.py_object]
    for i in range(N):
        take(bytearray(20000))
    then()
