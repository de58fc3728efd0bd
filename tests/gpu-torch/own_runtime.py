"""Some wheels carry CUDA's runtime inside: as a library of their own, or as a part of PyTorch's libraries, where nothing
can stand in front of it (1.13). Its functions are made to jump into the stand-in's."""
import ctypes
import os
import struct
import subprocess

import torch

LIBRARIES = os.path.join(os.path.dirname(torch.__file__), "lib")
CARRIERS = ("libc10_cuda.so", "libtorch_python.so", "libcudart-")
STANDIN = "libcudart.so.11.0"  # the newest that is carried so; by its path, for what is carried has its name
JUMP = struct.Struct("<6sQ")  # to the address that follows
JUMP_CODE = b"\xff\x25\x00\x00\x00\x00"
WRITABLE = 7
PAGE = 4096


def functions_in(path):
    """(name, its place in the file's memory) of those of the runtime."""
    for options in ([], ["-D"]):
        said = subprocess.run(["nm", "--defined-only", *options, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for at, kind, versioned in (line.split() for line in said.stdout.decode().splitlines()):
            name = versioned.partition("@")[0]
            if kind in "tT" and name.lstrip("_").startswith("cuda") and "cudart" not in name:
                yield name, int(at, 16)


def loaded_at(path):
    with open("/proc/self/maps") as maps:
        return min((int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(path)), default=None)


def replace():
    libc = ctypes.CDLL(None, use_errno=True)
    standin = os.path.join(os.environ["LD_LIBRARY_PATH"].split(":")[0], STANDIN)
    for name in sorted(os.listdir(LIBRARIES)):
        path = os.path.join(LIBRARIES, name)
        base = loaded_at(path) if name.startswith(CARRIERS) else None
        for function, offset in functions_in(path) if base else ():
            to = getattr(ctypes.CDLL(standin), function, None)
            at = base + offset
            if to is None:
                continue
            if libc.mprotect(ctypes.c_void_p(at & -PAGE), ctypes.c_size_t((at & PAGE - 1) + JUMP.size), WRITABLE):
                raise OSError(ctypes.get_errno(), "cannot change " + path)
            ctypes.memmove(at, JUMP.pack(JUMP_CODE, ctypes.cast(to, ctypes.c_void_p).value), JUMP.size)
