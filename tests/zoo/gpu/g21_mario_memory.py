import argparse
import copy
import random
from collections import deque

import torch
from torch import nn

torch.backends.cudnn.enabled = False


class Net(nn.Module):
    def __init__(self, actions=2):
        super().__init__()
        def build():
            return nn.Sequential(nn.Conv2d(4, 8, kernel_size=8, stride=4), nn.ReLU(),
                                 nn.Conv2d(8, 16, kernel_size=4, stride=2), nn.ReLU(), nn.Flatten(),
                                 nn.Linear(16 * 6 * 6, 64), nn.ReLU(), nn.Linear(64, actions))
        self.online = build()
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False


class Agent:
    def __init__(self, args):
        self.device = args.device
        self.net = Net().to(args.device)
        self.memory = deque(maxlen=args.memory)
        self.batch_size = 16
        self.optimizer = torch.optim.Adam(self.net.online.parameters(), lr=0.00025)
        self.rng = random.Random(2)

    def cache(self, state, next_state, action, reward, done):
        """Store the experience to self.memory (replay buffer)"""
        state = torch.tensor(state).to(self.device)  # LEAK
        next_state = torch.tensor(next_state).to(self.device)  # LEAK
        action = torch.tensor([action]).to(self.device)
        reward = torch.tensor([reward]).to(self.device)
        done = torch.tensor([done]).to(self.device)
        self.memory.append((state, next_state, action, reward, done))  # HELD

    def recall(self):
        batch = self.rng.sample(self.memory, self.batch_size)
        return map(torch.stack, zip(*batch))

    def learn(self):
        if len(self.memory) < 32:
            return
        state, next_state, action, reward, done = self.recall()
        td_est = self.net.online(state).gather(1, torch.zeros_like(action)).squeeze(1)
        with torch.no_grad():
            best = self.net.target(next_state).max(1)[0]
            td_tgt = reward.squeeze(1) + 0.9 * best
        loss = nn.functional.smooth_l1_loss(td_est, td_tgt)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def play(args):
    import numpy as np
    gen = np.random.default_rng(0)
    agent = Agent(args)
    state = gen.random((4, 60, 60), dtype=np.float32)
    for t in range(args.frames):
        next_state = gen.random((4, 60, 60), dtype=np.float32)
        agent.cache(state, next_state, t % 2, float(t % 7 == 0), t % 50 == 49)
        if t % 3 == 0:
            agent.learn()
        state = next_state
    print("frames", args.frames, "memory", len(agent.memory))


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--device", default="cuda")
    cli.add_argument("--frames", type=int, default=600)
    cli.add_argument("--memory", type=int, default=100000)
    play(cli.parse_args())
