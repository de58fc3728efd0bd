"""Camera frames come from a capture process through named shared memory, one segment a batch.

usage: j24_shm_frames.py [--unlink]"""
import multiprocessing as mp
import sys
from multiprocessing import resource_tracker, shared_memory

import numpy as np

SHAPE = (6, 96, 128, 3)


def capture(queue, n):
    r = np.random.RandomState(0)
    background = r.randint(0, 120, SHAPE[1:]).astype(np.uint8)
    for i in range(n):
        segment = shared_memory.SharedMemory(create=True, size=int(np.prod(SHAPE)))
        frames = np.ndarray(SHAPE, np.uint8, buffer=segment.buf)
        frames[:] = background  # LEAK
        x = (3 * i) % 110
        frames[:, 30:50, x:x + 16] = 255
        del frames
        segment.close()
        queue.put(segment.name)  # HELD (by /dev/shm: nobody unlinks the name)
    queue.put(None)


class MotionTracker:
    def __init__(self):
        self.mean = np.zeros(SHAPE[1:3], np.float32)
        self.track = []

    def update(self, frames):
        grey = frames.astype(np.float32).mean(axis=(0, 3))
        diff = np.abs(grey - self.mean)
        self.mean += 0.2 * (grey - self.mean)
        self.track.append(int(diff.max(0).argmax()))


def main(unlink):
    resource_tracker.ensure_running()
    queue = mp.Queue(maxsize=8)
    producer = mp.Process(target=capture, args=(queue, 200))
    producer.start()
    tracker = MotionTracker()
    while True:
        name = queue.get()
        if name is None:
            break
        segment = shared_memory.SharedMemory(name=name)
        tracker.update(np.ndarray(SHAPE, np.uint8, buffer=segment.buf))
        segment.close()
        if unlink:
            segment.unlink()
    producer.join()
    print("batches %d, last positions %s" % (len(tracker.track), tracker.track[-4:]))


if __name__ == "__main__":
    main("--unlink" in sys.argv)
