"""Jobs with a made-up PyTorch whose allocator takes segments from a stand-in for CUDA and cuts tensors from them."""
from tests.e2e.support import SOURCES, SUBJECTS, SYSTEM_PYTHON, SeepCase, compile_c, job_env

STANDIN = SUBJECTS.parent / "tests/standin/12"
MIB = 1 << 20
FIRST = """import ctypes
import json
import os
import sys

ctypes.CDLL("libcudart.so.12", ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
caching = ctypes.CDLL(sys.argv[2], ctypes.RTLD_GLOBAL)
caching.caching_segment.restype = ctypes.c_void_p
caching.caching_segment.argtypes = (ctypes.c_int, ctypes.c_size_t)
caching.caching_segment_gone.argtypes = (ctypes.c_void_p,)
for name in ("caching_tensor", "caching_tensor_gone"):
    getattr(caching, name).argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
caching.caching_oom.argtypes = (ctypes.c_int, ctypes.c_int64)
MIB = 1 << 20


def segment(bytes, device=0):
    return caching.caching_segment(device, bytes)


def tensor(at, bytes, device=0):
    caching.caching_tensor(device, at, bytes)  # TENSOR
    return [at, bytes]
"""


class CachingCase(SeepCase):
    def setUp(self):
        super().setUp()
        self.assertTrue(STANDIN.exists(), "%s is missing: run make first" % STANDIN)
        self.c10 = compile_c(self, SOURCES / "lib/c10_like.c", self.path("libc10.so"), "-fPIC", "-shared", "-DSIGNATURE=20")
        self.caching = compile_c(self, SOURCES / "lib/caching_like.c", self.path("libcaching.so"), "-fPIC", "-shared",
                                 "-fno-optimize-sibling-calls", self.c10, str(STANDIN / "libcudart.so.12"),
                                 "-Wl,-rpath," + str(STANDIN))

    def argv(self, job):
        path = self.path("job.py")
        with open(path, "w") as f:
            f.write(FIRST + job)
        return [SYSTEM_PYTHON, path, self.c10, self.caching]

    def env(self, **changes):
        return job_env(LD_LIBRARY_PATH=STANDIN, **changes)

    def line_of(self, mark):
        return next(i for i, line in enumerate(FIRST.splitlines(), 1) if mark in line)
