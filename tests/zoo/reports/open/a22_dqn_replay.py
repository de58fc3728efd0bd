"""DQN on a grid with pictures as observations; the replay memory is a deque with a limit, full at three fifths."""
import collections
import random

import numpy as np
import torch
import torch.nn as nn

Transition = collections.namedtuple("Transition", "obs action reward next_obs")


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = collections.deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, n):
        return Transition(*zip(*random.sample(self.memory, n)))

    def __len__(self):
        return len(self.memory)


class Grid:
    def __init__(self, n=6, cell=6):
        self.n, self.cell = n, cell

    def render(self):
        img = np.zeros((1, self.n * self.cell, self.n * self.cell), np.float32)
        y, x = self.pos
        img[0, y * self.cell:(y + 1) * self.cell, x * self.cell:(x + 1) * self.cell] = 1
        return torch.from_numpy(img)

    def reset(self):
        self.pos, self.t = [random.randrange(self.n), random.randrange(self.n)], 0
        return self.render()

    def step(self, a):
        d = ((0, 1), (1, 0), (0, -1), (-1, 0))[a]
        self.pos = [min(max(p + q, 0), self.n - 1) for p, q in zip(self.pos, d)]
        self.t += 1
        won = self.pos == [self.n - 1, self.n - 1]
        return self.render(), float(won), won or self.t > 30


random.seed(1)
torch.manual_seed(1)
q = nn.Sequential(nn.Conv2d(1, 8, 6, stride=6), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4))
target = nn.Sequential(nn.Conv2d(1, 8, 6, stride=6), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4))
target.load_state_dict(q.state_dict())
opt = torch.optim.RMSprop(q.parameters(), lr=1e-3)
memory, env = ReplayMemory(1500), Grid()
obs, won, updates = env.reset(), 0, 0
for t in range(2500):
    with torch.no_grad():
        a = random.randrange(4) if random.random() < 0.3 else q(obs[None]).argmax().item()
    nxt, r, done = env.step(a)
    memory.push(obs, a, r, nxt)
    obs = env.reset() if done else nxt
    won += r
    if len(memory) >= 64 and t % 10 == 0:
        b = memory.sample(16)
        with torch.no_grad():
            goal = torch.tensor(b.reward) + 0.9 * target(torch.stack(b.next_obs)).amax(1)
        value = q(torch.stack(b.obs)).gather(1, torch.tensor(b.action)[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        updates += 1
    if t % 200 == 0:
        target.load_state_dict(q.state_dict())
print("updates %d won %d memory %d" % (updates, won, len(memory)))
