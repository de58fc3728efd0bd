"""A recurrent net on one endless signal with truncated backpropagation: the state goes from step to step, detached, so
that no graph is longer than a window; every twenty-five steps the signal starts anew. Loss tensors are kept until the
interval's end, detached, and are one number each.

usage: healthy_truncated_bptt.py [--steps N]"""
import argparse

import torch
import torch.nn.functional as F

STREAMS, WINDOW, WIDTH, INTERVAL = 16, 16, 64, 25


class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTM(2, WIDTH, batch_first=True)
        self.head = torch.nn.Linear(WIDTH, 2)

    def forward(self, signal, state):
        out, state = self.cell(signal, state)
        return self.head(out), state


def signals(phase, start):
    """Two sums of sines a stream, a window and one more, from `start` on."""
    t = (start + torch.arange(WINDOW + 1)) * 0.15
    return torch.stack([torch.sin(t + phase[:, :1]) + 0.5 * torch.sin(2.7 * t + phase[:, 1:]),
                        torch.cos(t + phase[:, 1:])], 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Forecaster()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    state, recent = None, []
    for step in range(args.steps):
        if step % INTERVAL == 0:
            phase, state = 6 * torch.rand(STREAMS, 2), None
        window = signals(phase, step % INTERVAL * WINDOW)
        if state is not None:
            state = tuple(part.detach() for part in state)
        forecast, state = net(window[:, :-1], state)
        loss = F.mse_loss(forecast, window[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        recent.append(loss.detach())
        if (step + 1) % INTERVAL == 0:
            print("step %d: loss %.4f" % (step + 1, torch.stack(recent).mean().item()), flush=True)
            recent.clear()
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
