"""Optimizers stepped a known number of times, in the ways training loops do it.

usage: steps.py WAY N; prints "steps N"."""
import sys

import torch


def model():
    torch.manual_seed(0)
    return torch.nn.Linear(8, 1)


def loss_of(net):
    return net(torch.ones(4, 8)).pow(2).mean()


def plain(n, make):
    net = model()
    optimizer = make(net.parameters())
    for _ in range(n):
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()


def accumulated(n):
    """Four backward passes a step."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(4 * n):
        (loss_of(net) / 4).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


def scheduled(n):
    """A schedule wraps the optimizer's step."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    for _ in range(n):
        loss_of(net).backward()
        optimizer.step()
        schedule.step()


def closure(n):
    """LBFGS evaluates the model several times within one step."""
    net = model()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)

    def evaluate():
        optimizer.zero_grad()
        loss = loss_of(net)
        loss.backward()
        return loss
    for _ in range(n):
        optimizer.step(evaluate)


def validated(n):
    """Evaluation loops between the steps."""
    net = model()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(n):
        loss_of(net).backward()
        optimizer.step()
        net.eval()
        with torch.no_grad():
            for _ in range(5):
                loss_of(net)
        net.train()


class Own(torch.optim.Optimizer):
    """A user's own optimizer."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= 0.1 * p.grad


class Wrapped(torch.optim.SGD):
    """Calls its parent's step: one step, not two."""

    def step(self, closure=None):
        super().step(closure)


def two(n):
    """Two networks, two optimizers, one training step: a GAN's loop."""
    a, b = model(), model()
    first = torch.optim.Adam(a.parameters())
    second = torch.optim.Adam(b.parameters())
    for _ in range(n):
        first.zero_grad()
        loss_of(a).backward()
        first.step()
        second.zero_grad()
        loss_of(b).backward()
        second.step()


WAYS = {
    "sgd": lambda n: plain(n, lambda p: torch.optim.SGD(p, lr=0.1)),
    "adam": lambda n: plain(n, torch.optim.Adam),
    "adamw": lambda n: plain(n, torch.optim.AdamW),
    "rmsprop": lambda n: plain(n, torch.optim.RMSprop),
    "own": lambda n: plain(n, Own),
    "wrapped": lambda n: plain(n, lambda p: Wrapped(p, lr=0.1)),
    "accumulated": accumulated,
    "scheduled": scheduled,
    "closure": closure,
    "validated": validated,
    "two": two,
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    WAYS[sys.argv[1]](int(sys.argv[2]))
    print("steps %s" % sys.argv[2])
