"""A small scoring service: HTTP-like requests through a queue, micro-batching, numpy model, request metrics in
the style of a metrics client library.

--labels request   latency histogram labelled with route and request id
--labels route     latency histogram labelled with route only"""
import argparse
import queue
import threading
import time
import uuid
import random

import numpy as np


class _Child:
    __slots__ = ("window", "n", "total")

    def __init__(self, buckets):
        self.window = np.zeros(buckets, dtype=np.float64)  # LEAK
        self.n, self.total = 0, 0.0

    def observe(self, seconds):
        self.window[self.n % len(self.window)] = seconds
        self.n += 1
        self.total += seconds


class Histogram:
    def __init__(self, name, labelnames, buckets=360):
        self.name, self.labelnames, self.buckets = name, labelnames, buckets
        self._metrics = {}

    def labels(self, **kw):
        key = tuple(kw[n] for n in self.labelnames)
        if key not in self._metrics:
            self._metrics[key] = _Child(self.buckets)  # HELD
        return self._metrics[key]

    def collect(self):
        n = sum(c.n for c in self._metrics.values())
        return n, sum(c.total for c in self._metrics.values()) / max(n, 1)


class Model:
    def __init__(self, seed=1):
        r = np.random.RandomState(seed)
        self.w1, self.w2 = r.randn(200, 512) / 14, r.randn(512, 2) / 22

    def __call__(self, x):
        return np.maximum(x @ self.w1, 0) @ self.w2


class Service:
    def __init__(self, metric):
        self.inbox, self.model, self.latency = queue.Queue(maxsize=64), Model(), metric

    def serve(self, batches):
        for _ in range(batches):
            first = self.inbox.get()
            batch = [first] + [self.inbox.get() for _ in range(15)]
            scores = self.model(np.stack([r["features"] for r in batch]))
            now = time.perf_counter()
            for r, s in zip(batch, scores):
                names = {"route": r["route"], "request_id": r["id"]}
                self.latency.labels(**{k: names[k] for k in self.latency.labelnames}).observe(now - r["at"])


def clients(inbox, n):
    r, ids = np.random.RandomState(5), random.Random(5)
    for i in range(n):
        inbox.put({"id": str(uuid.UUID(int=ids.getrandbits(128))), "route": ("/score", "/rank")[i % 2],
                   "features": r.randn(200), "at": time.perf_counter()})


parser = argparse.ArgumentParser()
parser.add_argument("--labels", choices=("request", "route"), default="request")
parser.add_argument("--batches", type=int, default=320)
a = parser.parse_args()
hist = Histogram("latency_seconds", ("route", "request_id") if a.labels == "request" else ("route",))
service = Service(hist)
t = threading.Thread(target=clients, args=(service.inbox, 16 * a.batches), daemon=True)
t.start()
service.serve(a.batches)
t.join()
print("requests %d, mean latency %.2f ms" % (hist.collect()[0], 1e3 * hist.collect()[1]))
