"""REINFORCE: log-probabilities of an episode are used once; the memory of episodes is not emptied."""
import sys

import torch
import torch.nn as nn
import torch.optim as optim

CLEAR = "--clear" in sys.argv


class Env:
    def reset(self):
        self.t = 0
        return torch.randn(8, 96)

    def step(self, action):
        self.t += 1
        return torch.randn(8, 96), 1.0, self.t >= 12


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(96, 512)
        self.affine2 = nn.Linear(512, 64)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = self.affine1(x)  # LEAK
        x = torch.relu(x)  # LEAK
        return self.affine2(x).log_softmax(1)  # LEAK


policy = Policy().cuda()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    log_probs = policy(state.cuda())  # LEAK
    action = torch.randint(0, 64, (8,))
    policy.saved_log_probs.append(log_probs[:, 0] + 0 * action.cuda())  # HELD LEAK
    return action


def finish_episode(n):
    returns = torch.ones(n)
    loss = [-(lp * r).mean() for lp, r in zip(policy.saved_log_probs[-n:], returns.tolist())]
    optimizer.zero_grad()
    torch.stack(loss).sum().backward(retain_graph=True)
    optimizer.step()
    if CLEAR:
        del policy.rewards[:]
        del policy.saved_log_probs[:]


def main():
    env = Env()
    for episode in range(90):
        state, done, n = env.reset(), False, 0
        while not done:
            action = select_action(state)
            state, reward, done = env.step(action)
            policy.rewards.append(reward)
            n += 1
        finish_episode(n)
    print("episodes", episode + 1)


if __name__ == "__main__":
    main()
