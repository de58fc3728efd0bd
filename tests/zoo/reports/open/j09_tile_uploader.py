"""Render map tiles in worker processes and 'upload' them one after the other (the upload is the slow part)."""
import itertools
import multiprocessing
import sys
import threading
import time
import zlib

import numpy as np

IN_FLIGHT = int(sys.argv[sys.argv.index("--in-flight") + 1]) if "--in-flight" in sys.argv else 0
TILES, UPLOADS = 1000, 180


def render(xy):
    x, y = xy
    v, u = np.mgrid[0:160, 0:160].astype(np.float32) / 160
    height = np.sin(7 * (u + x)) * np.cos(5 * (v + y)) + np.sin(23 * (u * v + x - y))
    return xy, (127 + 60 * height).astype(np.float32)


class Uploader:
    def __init__(self):
        self.sent = self.crc = 0
        self.done = False

    def put(self, xy, tile):
        body = tile.astype(np.uint8).tobytes()
        time.sleep(0.008)
        self.crc = zlib.crc32(body, self.crc)
        self.sent += len(body)


def coordinates(gate):
    for xy in itertools.islice(itertools.product(range(40), range(40)), TILES):
        while gate is not None and not gate.acquire(timeout=0.2):
            if uploader.done:
                return
        yield xy


if __name__ == "__main__":
    gate = threading.Semaphore(IN_FLIGHT) if IN_FLIGHT else None
    uploader = Uploader()
    pool = multiprocessing.Pool(2)
    for n, (xy, tile) in enumerate(pool.imap(render, coordinates(gate)), 1):  # LEAK HELD
        uploader.put(xy, tile)
        if gate is not None:
            gate.release()
        if n == UPLOADS:
            break
    uploader.done = True
    pool.terminate()
    print("uploaded %d tiles, %d kB, crc %08x" % (n, uploader.sent >> 10, uploader.crc))
