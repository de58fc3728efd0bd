"""A small scoring server: one thread a request, as http.server.ThreadingHTTPServer does it, and a scratch area for
each thread so that requests don't share one.

leaky: the areas are in a dict by the thread's name, and there is a new name for every request.
fixed: threading.local, which goes with its thread.

usage: b04_thread_scratch.py leaky|fixed [--requests N]"""
import argparse
import threading

import numpy as np

FRAMES, BINS, HIDDEN = 128, 257, 96


class NamedScratch:
    def __init__(self):
        self.areas = {}

    def area(self):
        name = threading.current_thread().name
        if name not in self.areas:
            self.areas[name] = np.zeros((FRAMES, BINS), np.float32)  # LEAK HELD
        return self.areas[name]


class LocalScratch(threading.local):
    def __init__(self):
        self.whole = np.zeros((FRAMES, BINS), np.float32)

    def area(self):
        return self.whole


class Scorer:
    def __init__(self, scratch):
        rng = np.random.RandomState(0)
        self.scratch = scratch
        self.window = np.hanning(512).astype(np.float32)
        self.w1 = rng.randn(BINS, HIDDEN).astype(np.float32) / 16
        self.w2 = rng.randn(HIDDEN, 12).astype(np.float32) / 10

    def handle(self, request, reply):
        spectrum = self.scratch.area()
        for t in range(FRAMES):
            spectrum[t] = np.abs(np.fft.rfft(request[t * 128:t * 128 + 512] * self.window))
        np.log1p(spectrum, out=spectrum)
        hidden = np.maximum(spectrum @ self.w1, 0)
        for _ in range(30):
            hidden = np.tanh(hidden @ self.w2 @ self.w2.T + hidden)
        reply.append(int((hidden @ self.w2).mean(0).argmax()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--requests", type=int, default=600)
    args = parser.parse_args()
    scorer = Scorer(NamedScratch() if args.variant == "leaky" else LocalScratch())
    rng = np.random.RandomState(1)
    counts = np.zeros(12, int)
    for i in range(0, args.requests, 2):
        waiting = []
        for _ in range(2):
            wave = rng.randn(128 * FRAMES + 512).astype(np.float32)
            reply = []
            thread = threading.Thread(target=scorer.handle, args=(wave, reply))
            thread.start()
            waiting.append((thread, reply))
        for thread, reply in waiting:
            thread.join()
            counts[reply[0]] += 1
    print("requests %d, answers %s" % (args.requests, counts.tolist()))


if __name__ == "__main__":
    main()
