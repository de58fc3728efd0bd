"""Exports rendered frames as PNM through C stdio memory streams (bindings of an old C imaging library did it like
this). The stream's text belongs to the caller after fclose.

usage: j06_pnm_export.py [--frames N] [--free-text]"""
import argparse
import ctypes
import zlib

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
libc.open_memstream.restype = ctypes.c_void_p
libc.open_memstream.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)]
libc.fwrite.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]
libc.fwrite.restype = ctypes.c_size_t
libc.fclose.argtypes = [ctypes.c_void_p]
libc.free.argtypes = [ctypes.c_void_p]


class PnmWriter:
    def __init__(self, free_text):
        self.free_text = free_text

    def encode(self, image):
        text, size = ctypes.c_void_p(), ctypes.c_size_t()
        stream = libc.open_memstream(ctypes.byref(text), ctypes.byref(size))
        head = b"P6 %d %d 255\n" % (image.shape[1], image.shape[0])
        libc.fwrite(head, 1, len(head), stream)
        for row in image:
            libc.fwrite(row.tobytes(), 1, row.nbytes, stream)  # LEAK (grown here, brought to its size in fclose)
        libc.fclose(stream)  # LEAK HELD (by nobody: text.value is forgotten)
        out = ctypes.string_at(text.value, size.value)
        if self.free_text:
            libc.free(text)
        return out


def frame(i):
    v, u = np.mgrid[0:180, 0:240] / 40.0
    planes = [np.sin(u * (1 + k) + i / 9.0) * np.cos(v - k * i / 15.0) for k in range(3)]
    return (127.5 + 127 * np.stack(planes, -1)).astype(np.uint8)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--frames", type=int, default=160)
    p.add_argument("--free-text", action="store_true")
    args = p.parse_args()
    writer, crc, total = PnmWriter(args.free_text), 0, 0
    for i in range(args.frames):
        text = writer.encode(frame(i))
        crc = zlib.crc32(text, crc)
        total += len(text)
    print("%d frames, %.1f MB, %08x" % (args.frames, total / 1e6, crc))
