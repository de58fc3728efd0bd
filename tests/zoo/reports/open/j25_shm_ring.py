"""Observations of two simulators through a ring of shared blocks; the learner copies a block and hands its number
back. All the blocks are touched during the first rounds."""
from multiprocessing import Process, Queue, shared_memory
import numpy as np

SLOTS, OBS = 24, (32, 84, 84)


def simulator(seed, names, free, ready, rounds):
    rng = np.random.default_rng(seed)
    blocks = [shared_memory.SharedMemory(name=n) for n in names]
    state = rng.random(OBS[1:], dtype=np.float32)
    for _ in range(rounds):
        k = free.get()
        obs = np.ndarray(OBS, np.uint8, buffer=blocks[k].buf)
        for t in range(OBS[0]):
            state = np.roll(state, 1, axis=t % 2)
            obs[t] = (255 * state).astype(np.uint8)
        del obs
        ready.put((seed, k))
    for b in blocks:
        b.close()


class Learner:
    def __init__(self):
        self.w = np.zeros(84)
        self.n = 0

    def learn(self, batch):
        x = batch.astype(np.float32).mean(axis=(0, 1)) / 255
        self.w += 0.05 * (x - self.w)
        self.n += 1


if __name__ == "__main__":
    blocks = [shared_memory.SharedMemory(create=True, size=int(np.prod(OBS))) for _ in range(SLOTS)]
    free, ready = Queue(), Queue()
    for k in range(SLOTS):
        free.put(k)
    args = ([b.name for b in blocks], free, ready, 100)
    sims = [Process(target=simulator, args=(s,) + args) for s in (1, 2)]
    for p in sims:
        p.start()
    learner = Learner()
    while learner.n < 200:
        seed, k = ready.get()
        view = np.ndarray(OBS, np.uint8, buffer=blocks[k].buf)
        batch = view.copy()
        del view
        free.put(k)
        learner.learn(batch)
    for p in sims:
        p.join()
    for b in blocks:
        b.close()
        b.unlink()
    print("batches %d, weights %.4f" % (learner.n, learner.w.mean()))
