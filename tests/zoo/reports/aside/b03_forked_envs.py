"""Actor-critic on environments in forked processes (SubprocVecEnv by hand). A Monitor in each process records frames
so that one can look at an episode afterwards.

leaky: the recording goes on over all episodes.
fixed: reset() starts a new one.

usage: b03_forked_envs.py leaky|fixed [--updates N]"""
import argparse
import multiprocessing as mp

import numpy as np
import torch
import torch.nn as nn

SIZE, PER_PROCESS, PROCESSES, HORIZON = 64, 4, 2, 8


class Catch:
    """A ball falls; a paddle goes left, stays or goes right."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.ball, self.paddle, self.row = self.rng.randint(4, SIZE - 4), SIZE // 2, 0
        return self.draw()

    def draw(self):
        frame = np.zeros((SIZE, SIZE), np.uint8)  # LEAK
        frame[self.row:self.row + 3, self.ball - 2:self.ball + 2] = 255
        frame[-2:, max(self.paddle - 5, 0):self.paddle + 5] = 255
        return frame

    def step(self, action):
        self.paddle = int(np.clip(self.paddle + 5 * (action - 1), 5, SIZE - 5))
        self.row += 4
        done = self.row >= SIZE - 4
        return self.draw(), float(abs(self.paddle - self.ball) < 6) if done else 0.0, done


class Monitor:
    def __init__(self, env, per_episode):
        self.env, self.per_episode = env, per_episode
        self.recording = []

    def reset(self):
        if self.per_episode:
            self.recording = []
        return self.env.reset()

    def step(self, action):
        frame, reward, done = self.env.step(action)
        self.recording.append(frame)  # HELD
        return (self.reset() if done else frame), reward, done


def serve(pipe, seed, per_episode):
    envs = [Monitor(Catch(seed + i), per_episode) for i in range(PER_PROCESS)]
    pipe.send(np.stack([env.reset() for env in envs]))
    while True:
        actions = pipe.recv()
        if actions is None:
            return
        frames, rewards, dones = zip(*(env.step(a) for env, a in zip(envs, actions)))
        pipe.send((np.stack(frames), np.array(rewards, np.float32), np.array(dones)))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 5, stride=4), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
                                  nn.Flatten(), nn.Linear(784, 64), nn.ReLU())
        self.pi, self.v = nn.Linear(64, 3), nn.Linear(64, 1)

    def forward(self, frames):
        z = self.body(torch.as_tensor(frames).float().div(255).unsqueeze(1))
        return torch.distributions.Categorical(logits=self.pi(z)), self.v(z)[:, 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--updates", type=int, default=180)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    context, pipes, processes = mp.get_context("fork"), [], []
    for k in range(PROCESSES):
        here, there = context.Pipe()
        processes.append(context.Process(target=serve, args=(there, 10 * k, args.variant == "fixed"), daemon=True))
        processes[-1].start()
        pipes.append(here)
    frames = np.concatenate([pipe.recv() for pipe in pipes])
    policy = Policy()
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=7e-4)
    caught = 0.0
    for update in range(args.updates):
        logps, values, rewards, masks, entropy = [], [], [], [], 0.0
        for _ in range(HORIZON):
            pi, v = policy(frames)
            actions = pi.sample()
            for pipe, a in zip(pipes, actions.numpy().reshape(PROCESSES, -1)):
                pipe.send(a)
            answers = [pipe.recv() for pipe in pipes]
            frames = np.concatenate([a[0] for a in answers])
            logps.append(pi.log_prob(actions))
            values.append(v)
            rewards.append(torch.as_tensor(np.concatenate([a[1] for a in answers])))
            masks.append(torch.as_tensor(1.0 - np.concatenate([a[2] for a in answers])).float())
            entropy = entropy + pi.entropy().mean()
        with torch.no_grad():
            ret = policy(frames)[1]
        loss = -0.01 * entropy
        for lp, v, r, m in zip(logps[::-1], values[::-1], rewards[::-1], masks[::-1]):
            ret = r + 0.97 * ret * m
            loss = loss + (0.5 * (ret - v).pow(2) - lp * (ret - v).detach()).mean()
            caught += float(r.sum())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for pipe, process in zip(pipes, processes):
        pipe.send(None)
        process.join()
    print("updates %d, caught %d" % (args.updates, caught))


if __name__ == "__main__":
    main()
