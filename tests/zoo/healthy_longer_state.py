"""A recurrent network on sequences from short to long. Its output, with the graph behind it, is still there as the step
ends, and larger each time; the state is carried on without its graph. Nothing is kept.

usage: healthy_longer_state.py [--steps N]"""
import argparse

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, head = torch.nn.LSTM(16, 32, batch_first=True), torch.nn.Linear(32, 8)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-3)
    state = None
    for step in range(args.steps):
        output, state = net(torch.randn(4, 10 + step, 16), state)
        state = tuple(part.detach() for part in state)
        loss = head(output).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps %d, loss %.3f" % (args.steps, loss.item()))


if __name__ == "__main__":
    main()
