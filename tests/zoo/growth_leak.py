"""Training loops that grow by a little every step, each in one of the ways people do it.

usage: growth_leak.py WAY [--steps N]
  outputs   keeps each step's output
  losses    keeps validation losses with their graphs: no backward ever frees what those saved
  totals    adds losses up without .item(): the graph's nodes stay
  none      keeps numbers only"""
import argparse

import torch

WIDTH = 256


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=("outputs", "losses", "totals", "none"))
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(64, WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH),
                              torch.nn.Tanh(), torch.nn.Linear(WIDTH, 32))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    history, total = [], 0.0
    for step in range(args.steps):
        x, y = torch.randn(128, 64), torch.randn(128, 32)
        output = net(x)
        loss = torch.nn.functional.mse_loss(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if args.way == "outputs":
            history.append(output.detach().clone())  # LEAK: outputs
        elif args.way == "losses":
            checked = net(torch.randn(64, 64))  # LEAK: losses
            history.append(checked.pow(2).mean())
        elif args.way == "totals":
            total = total + loss
        else:
            history.append(loss.item())
    print("steps %d kept %d total %.3f" % (args.steps, len(history), float(total)))


if __name__ == "__main__":
    main()
