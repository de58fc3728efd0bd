"""Learning to steer from pixels (DDPG) with a replay buffer as CleanRL and Stable-Baselines have it: arrays for the
full capacity from np.zeros at the start. The system gives the pages when they are first written, so RSS climbs with
every transition until the buffer is full in the middle of the run; nothing is allocated meanwhile.

usage: healthy_ring_replay.py [--steps N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F

SIDE, PLAYERS, CAPACITY, BATCH, FIRST = 32, 8, 1200, 32, 64


class Chases:
    """Several points on unit squares, each to be steered to a target; an observation shows both."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.at, self.target = self.rng.rand(2, PLAYERS, 2)
        self.grid = np.stack(np.meshgrid(*[np.linspace(0, 1, SIDE)] * 2), 2)

    def observe(self):
        spots = np.stack([self.at, self.target], 1)[:, :, None, None]
        return np.exp(-40 * ((self.grid - spots) ** 2).sum(4)).astype(np.float32)

    def step(self, actions):
        before = np.linalg.norm(self.at - self.target, axis=1)
        self.at = np.clip(self.at + 0.1 * actions, 0, 1)
        after = np.linalg.norm(self.at - self.target, axis=1)
        done = after < 0.1
        self.target[done] = self.rng.rand(int(done.sum()), 2)
        return self.observe(), 10 * (before - after) + done, done


class ReplayBuffer:
    def __init__(self, capacity):
        self.observations = np.zeros((capacity, 2, SIDE, SIDE), dtype=np.float32)
        self.following = np.zeros((capacity, 2, SIDE, SIDE), dtype=np.float32)
        self.actions = np.zeros((capacity, 2), dtype=np.float32)
        self.rewards, self.done = np.zeros((2, capacity), dtype=np.float32)
        self.position, self.full = 0, False

    def add(self, *columns):
        slots = (self.position + np.arange(PLAYERS)) % len(self.rewards)
        for array, column in zip((self.observations, self.actions, self.following, self.rewards, self.done), columns):
            array[slots] = column
        self.full = self.full or self.position + PLAYERS >= len(self.rewards)
        self.position = (self.position + PLAYERS) % len(self.rewards)

    def __len__(self):
        return len(self.rewards) if self.full else self.position

    def sample(self, n):
        i = np.random.randint(0, len(self), n)
        return [torch.from_numpy(array[i]) for array in (self.observations, self.actions, self.following,
                                                         self.rewards, self.done)]


class Network(torch.nn.Module):
    def __init__(self, extra, outputs):
        super().__init__()
        self.eyes = torch.nn.Sequential(torch.nn.Conv2d(2, 8, 4, stride=4), torch.nn.ReLU(), torch.nn.Flatten())
        self.body = torch.nn.Sequential(torch.nn.Linear(8 * (SIDE // 4) ** 2 + extra, 64), torch.nn.ReLU(),
                                        torch.nn.Linear(64, outputs))

    def forward(self, observations, *extra):
        return self.body(torch.cat((self.eyes(observations),) + extra, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    np.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    world, replay = Chases(0), ReplayBuffer(CAPACITY)
    actor, critic, target = Network(0, 2), Network(2, 1), Network(2, 1)
    target.load_state_dict(critic.state_dict())
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    observations, steps, won = world.observe(), 0, []
    while steps < args.steps:
        with torch.no_grad():
            actions = torch.tanh(actor(torch.from_numpy(observations))).numpy()
        actions = np.clip(actions + 0.3 * np.random.randn(PLAYERS, 2), -1, 1).astype(np.float32)
        following, rewards, done = world.step(actions)
        replay.add(observations, actions, following, rewards, done)
        observations = following
        won.append(float(rewards.mean()))
        if len(replay) < FIRST:
            continue
        seen, acted, next_seen, reward, ended = replay.sample(BATCH)
        with torch.no_grad():
            value = target(next_seen, torch.tanh(actor(next_seen)))[:, 0]
        critic_loss = F.mse_loss(critic(seen, acted)[:, 0], reward + 0.9 * (1 - ended) * value)
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        actor_loss = -critic(seen, torch.tanh(actor(seen))).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), critic.parameters()):
                slow.lerp_(fast, 0.02)
        steps += 1
        if steps % 50 == 0:
            print("step %d: reward %.3f, %d transitions" % (steps, sum(won[-50:]) / 50, len(replay)), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
