"""Trainings whose steps and epochs are known: how optimizers step and how data is fed.

usage: feeds.py WAY; prints "steps N epochs N"."""
import itertools
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

EPOCHS, BATCHES = 3, 20


class Items(Dataset):
    def __init__(self, n=BATCHES):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.ones(256) * i


class Endless(torch.utils.data.sampler.BatchSampler):
    """As ultralytics and timm have it: the loader never ends, the sampler begins again."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


def model():
    torch.manual_seed(0)
    return torch.nn.Linear(256, 64)


def train(net, optimizer, batch):
    optimizer.zero_grad()
    net(batch).pow(2).mean().backward()
    optimizer.step()


def loop(net, optimizer, make, between=lambda net: None):
    for _ in range(EPOCHS):
        for batch in make():
            train(net, optimizer, batch)
        between(net)


def sgd(net):
    return torch.optim.SGD(net.parameters(), lr=0.01)


def evaluate(net):
    with torch.no_grad():
        for batch in DataLoader(Items(7)):
            net(batch)
        for batch in DataLoader(Items(5)):
            net(batch)


def plain():
    net, loader = model(), DataLoader(Items(), shuffle=True)
    loop(net, sgd(net), lambda: loader)
    return EPOCHS * BATCHES, EPOCHS


def new_loader():
    net = model()
    loop(net, sgd(net), lambda: DataLoader(Items(), shuffle=True))
    return EPOCHS * BATCHES, EPOCHS


def evaluated():
    net, loader = model(), DataLoader(Items(), shuffle=True)
    evaluate(net)
    loop(net, sgd(net), lambda: loader, evaluate)
    return EPOCHS * BATCHES, EPOCHS


def persistent():
    net, loader = model(), DataLoader(Items(), shuffle=True, num_workers=2, persistent_workers=True)
    loop(net, sgd(net), lambda: loader)
    return EPOCHS * BATCHES, EPOCHS


def endless(workers=0):
    net = model()
    sampler = torch.utils.data.BatchSampler(RandomSampler(Items()), 1, False)
    loader = DataLoader(Items(), batch_sampler=Endless(sampler), num_workers=workers)
    optimizer = sgd(net)
    for batch in itertools.islice(loader, EPOCHS * BATCHES):
        train(net, optimizer, batch)
    return EPOCHS * BATCHES, EPOCHS


def cycle():
    net = model()
    optimizer = sgd(net)
    for batch in itertools.islice(itertools.cycle(DataLoader(Items())), EPOCHS * BATCHES):
        train(net, optimizer, batch)
    return EPOCHS * BATCHES, 1


def gan():
    d, g = model(), model()
    opt_d, opt_g = sgd(d), sgd(g)
    for _ in range(50):
        train(d, opt_d, torch.ones(4, 256))
        train(g, opt_g, torch.ones(4, 256))
    return 50, None


def told(begins):
    """The job itself tells steps, and beginnings or ends of epochs; an evaluation comes first, and between two epochs."""
    import seep

    net, loader = model(), DataLoader(Items(), shuffle=True)
    optimizer = sgd(net)
    evaluate(net)
    for _ in range(EPOCHS):
        if begins:
            seep.epoch()
        for batch in loader:
            train(net, optimizer, batch)
            seep.step()
        if not begins:
            seep.epoch()
        evaluate(net)
    return EPOCHS * BATCHES, EPOCHS


def told_beginnings():
    return told(True)


def told_ends():
    return told(False)


def folds():
    for _ in range(4):
        net = model()
        optimizer = sgd(net)
        for _ in range(25):
            train(net, optimizer, torch.ones(4, 256))
    return 100, None  # less one for each fold but the first, unless an address comes again


def each_parameter():
    net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(10)])
    optimizers = [torch.optim.SGD([p], lr=0.01) for p in net.parameters()]
    for _ in range(40):
        net(torch.ones(4, 256)).pow(2).mean().backward()
        for optimizer in optimizers:
            optimizer.step()
            kept = torch.zeros(100)
            optimizer.zero_grad()
    return 40, None


def maml():
    outer_net = model()
    outer = sgd(outer_net)
    for _ in range(40):
        kept = []
        for _ in range(3):
            net = model()
            kept.append(sgd(net))
            train(net, kept[-1], torch.ones(4, 256))
        train(outer_net, outer, torch.ones(4, 256))
    return 40, None


def inference():
    net = model()
    for _ in range(EPOCHS):
        with torch.no_grad():
            for batch in DataLoader(Items(40)):
                net(batch)
    return EPOCHS * 40 - 11, EPOCHS  # the first eleven are not counted yet


def accumulated():
    net = model()
    optimizer = sgd(net)
    for i, batch in enumerate(DataLoader(Items(120))):
        net(batch).pow(2).mean().backward()
        if i % 6 == 5:
            optimizer.step()
            optimizer.zero_grad()
            kept = torch.zeros(100)
    return 120 - 17, 1  # the third step of the optimizer shows it, and ends no batch


def episodes():
    """One step of the optimizer for forty of the environment's."""
    net = model()
    optimizer = sgd(net)
    for _ in range(10):
        seen = []
        for _ in range(40):
            end = time.perf_counter() + 0.03
            state = torch.ones(4, 256)
            while time.perf_counter() < end:
                pass
            seen.append(net(state).mean())  # LOOP
        optimizer.zero_grad()
        torch.stack(seen).mean().backward()
        optimizer.step()
    return 400, None


def one_call(kept=None):
    """L-BFGS trains within a single step, and asks for the loss each time."""
    net, batch = model(), torch.randn(64, 256)
    optimizer = torch.optim.LBFGS(net.parameters(), lr=1e-3, max_iter=150, max_eval=10000, tolerance_grad=0,
                                  tolerance_change=0)

    def closure():
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            pass
        optimizer.zero_grad()
        out = net(batch)
        if kept is not None:
            kept.append(out.detach().repeat(1, 8))  # 128 KiB
        loss = out.pow(2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    return 150, None


def one_call_kept():
    return one_call([])


def prepared():
    """What a loop prepares before the training is none of its steps."""
    ready = []
    for i in range(120):
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            pass
        ready.append(torch.randn(16, 256))
    net = model()
    optimizer = sgd(net)
    for batch in ready[:60]:
        train(net, optimizer, batch)
    return 60, None


def averaged(kept=None):
    """What follows the training has a loop of its own."""
    net, states = model(), []
    optimizer = sgd(net)
    for _ in range(300):
        train(net, optimizer, torch.randn(16, 256))
    for i in range(400):
        end = time.thread_time() + 0.004
        while time.thread_time() < end:
            pass
        state = torch.randn(4, 64, 128)
        if kept is not None:
            kept.append(state)  # 128 KiB
    return 300, None


def averaged_kept():
    return averaged([])


def endless_workers():
    return endless(2)


print("steps %s epochs %s" % globals()[sys.argv[1]]())
