"""A ranking server with an answer cache of 1500 entries (full about half-way), a window of latencies and futures
for the requests under way."""
import collections
import concurrent.futures as cf
import threading
import time

import numpy as np


class AnswerCache:
    def __init__(self, limit):
        self.limit, self.lock, self.map = limit, threading.Lock(), collections.OrderedDict()
        self.hits = self.misses = 0

    def get(self, key):
        with self.lock:
            if key in self.map:
                self.hits += 1
                self.map.move_to_end(key)
                return self.map[key]
            self.misses += 1

    def put(self, key, value):
        with self.lock:
            self.map[key] = value
            while len(self.map) > self.limit:
                self.map.popitem(last=False)


class Ranker:
    def __init__(self, items=900, dim=24):
        self.items = np.random.RandomState(0).randn(items, dim).astype(np.float32)
        self.cache = AnswerCache(1500)
        self.latency = collections.deque(maxlen=500)

    def rank(self, query):
        t = time.perf_counter()
        answer = self.cache.get(query)
        if answer is None:
            v = np.random.RandomState(query).randn(self.items.shape[1]).astype(np.float32)
            scores = self.items @ v
            answer = (np.argsort(-scores).astype(np.int32), np.sort(scores)[::-1].copy())
            self.cache.put(query, answer)
        self.latency.append(time.perf_counter() - t)
        return int(answer[0][0])


ranker = Ranker()
rng = np.random.RandomState(4)
checksum = 0
with cf.ThreadPoolExecutor(2) as pool:
    for wave in range(250):
        queries = rng.zipf(1.15, 24) % 40000
        pending = {pool.submit(ranker.rank, int(q)) for q in queries}
        while pending:
            done, pending = cf.wait(pending, return_when=cf.FIRST_COMPLETED)
            checksum += sum(f.result() for f in done)
print("entries %d, hit rate %.2f, checksum %d" % (len(ranker.cache.map), ranker.cache.hits / 6000, checksum))
