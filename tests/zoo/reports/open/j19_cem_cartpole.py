"""Cross-entropy method on a cart-pole, numpy only. Trajectories get longer as the policy learns to balance; those
of the generation and of the five best so far are kept."""
import heapq
import numpy as np


def rollout(theta, seed, limit=80):
    r = np.random.RandomState(seed)
    s = r.uniform(-0.05, 0.05, 4)
    frames = []
    while len(frames) < limit:
        force = 10.0 * np.tanh(theta[:4] @ s + theta[4])
        th, thd = s[2], s[3]
        tmp = (force + 0.05 * thd ** 2 * np.sin(th)) / 1.1
        tha = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        s = s + 0.02 * np.array([s[1], tmp - 0.05 * tha * np.cos(th) / 1.1, thd, tha])
        frames.append(np.concatenate([s, [force], np.zeros(123)]).astype(np.float32))
        if abs(s[0]) > 2.4 or abs(s[2]) > 0.21:
            break
    return len(frames), np.stack(frames)


class Agent:
    def __init__(self):
        self.mu, self.sigma = np.zeros(5), np.full(5, 0.4)
        self.best = []

    def generation(self, g):
        r = np.random.RandomState(g)
        pop = self.mu + self.sigma * r.randn(10, 5)
        batch = [(rollout(theta, 1000 * g + i)) for i, theta in enumerate(pop)]
        order = sorted(range(10), key=lambda i: -batch[i][0])
        for i in order[:2]:
            item = (batch[i][0], g * 100 + i, batch[i][1])
            heapq.heappush(self.best, item) if len(self.best) < 5 else heapq.heappushpop(self.best, item)
        elite = pop[order[:5]]
        self.mu, self.sigma = elite.mean(0), elite.std(0) + 0.1
        return np.mean([n for n, _ in batch])


agent = Agent()
for g in range(60):
    mean = agent.generation(g)
    if g % 20 == 0:
        print("generation %d: mean length %.1f" % (g, mean), flush=True)
print("best lengths", sorted(n for n, _, _ in agent.best))
