"""Deep Q-learning in a small grid world, with a replay buffer that is a plain list and is never trimmed: each
frame stack that the world has shown stays, although learning draws from recent transitions soon well enough.
Memory climbs by four transitions a step ("my DQN runs out of RAM overnight"). The fix is a deque with a length,
full after a sixth of the run.

usage: replay_buffer.py [leaky|fixed] [--steps N]"""
import argparse
import collections
import random

import numpy as np
import torch
import torch.nn.functional as F

SIDE = 28
FRAMES = 4
ACTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))
MOVES = 4
CAPACITY = 160


class World(object):
    """A player looks for a coin on a torus of 7 x 7 fields; what one sees are the last four frames."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.player, self.coin = self.rng.randint(0, 7, 2), self.rng.randint(0, 7, 2)
        self.state = np.zeros((FRAMES, SIDE, SIDE), dtype=np.float32)

    def frame(self):
        frame = np.zeros((1, SIDE, SIDE), dtype=np.float32)
        for (y, x), value in ((self.player, 1.0), (self.coin, 0.5)):
            frame[0, 4 * y:4 * y + 4, 4 * x:4 * x + 4] = value
        return frame

    def step(self, action):
        self.player = (self.player + ACTIONS[action]) % 7
        reward = float((self.player == self.coin).all())
        if reward:
            self.coin = self.rng.randint(0, 7, 2)
        self.state = np.concatenate([self.state[1:], self.frame()])  # LEAK
        return self.state, reward


class QNetwork(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(FRAMES, 8, 4, stride=4), torch.nn.ReLU(), torch.nn.Flatten(),
                                        torch.nn.Linear(8 * 49, 64), torch.nn.ReLU(),
                                        torch.nn.Linear(64, len(ACTIONS)))

    def forward(self, states):
        return self.body(states)


def learn(net, optimizer, replay):
    states, actions, rewards, following = zip(*random.sample(replay, 16))
    values = net(torch.from_numpy(np.stack(states))).gather(1, torch.tensor(actions)[:, None])[:, 0]
    with torch.no_grad():
        best = net(torch.from_numpy(np.stack(following))).amax(1)
    loss = F.smooth_l1_loss(values, torch.tensor(rewards) + 0.9 * best)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=250)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    world, net = World(0), QNetwork()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    replay = [] if args.variant == "leaky" else collections.deque(maxlen=CAPACITY)
    state, coins, steps = world.state, 0, 0
    while steps < args.steps:
        for _ in range(MOVES):
            if random.random() < 0.2:
                action = random.randrange(len(ACTIONS))
            else:
                with torch.no_grad():
                    action = int(net(torch.from_numpy(state)[None]).argmax())
            following, reward = world.step(action)
            replay.append((state, action, reward, following))
            state = following
            coins += int(reward)
        if len(replay) >= 32:
            loss = learn(net, optimizer, replay)
            steps += 1
            if steps % 50 == 0:
                print("step %d: loss %.4f, %d coins" % (steps, loss, coins), flush=True)
    print("steps %d, %d transitions kept" % (steps, len(replay)))


if __name__ == "__main__":
    main()
