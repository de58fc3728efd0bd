"""Builds a vocabulary with a random-projection context vector for each word from a stream of documents. There
are 20 000 words in the language; after a third of the stream practically all have been seen."""
import zlib
import numpy as np

DIM = 48
rng = np.random.default_rng(17)
vocab, vectors, counts = {}, [], []


def signature(word):
    return np.random.RandomState(zlib.crc32(word.encode()) & 0x7FFFFFFF).standard_normal(DIM).astype(np.float32)


sigs = np.stack([signature("t%d" % k) for k in range(64)])
for doc in range(200):
    words = ["w%05d" % k for k in rng.integers(0, 20000, 1200)]
    topic = sigs[doc % 64]
    for w in words:
        i = vocab.get(w)
        if i is None:
            i = vocab[w] = len(vectors)
            vectors.append(np.zeros(DIM, np.float32))
            counts.append(0)
        vectors[i] += topic
        counts[i] += 1
    if doc % 65 == 64:
        print("documents %d, words %d" % (doc + 1, len(vocab)), flush=True)
norms = np.array([np.linalg.norm(v) for v in vectors])
print("mean norm %.3f" % norms.mean())
