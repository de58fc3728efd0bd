"""Trainings that no loader feeds, whose steps and laps are known: loops around the loop of their steps.

usage: laps.py WAY [plain]; prints "steps N epochs N". Without PyTorch (plain) a step is an iteration of 10 ms."""
import sys
import time

way, plain = sys.argv[1], "plain" in sys.argv
LAPS, BATCHES = 7, 20

if plain:
    batches = [bytearray(3000) for _ in range(BATCHES)]

    def train(batch):
        start = bytearray(5000)
        time.sleep(.01)
        end = bytearray(7000)
else:
    import torch

    net = torch.nn.Linear(256, 64)
    sgd = torch.optim.SGD(net.parameters(), lr=0.01)
    batches = [torch.ones(4, 256) for _ in range(BATCHES)]

    def train(batch):
        sgd.zero_grad()
        net(batch).pow(2).mean().backward()
        sgd.step()


def evaluate():
    return [bytearray(4000 + i) for i in range(BATCHES)]


def validations():
    for epoch in range(LAPS):
        for batch in batches:
            train(batch)
        evaluate()
    return LAPS * BATCHES, LAPS


def in_functions():
    def one_epoch():
        for batch in batches:
            train(batch)

    for epoch in range(LAPS):
        one_epoch()
        evaluate()
    return LAPS * BATCHES, LAPS


def nested():
    for fold in range(2):
        for epoch in range(4):
            for batch in batches:
                train(batch)
    return 2 * 4 * BATCHES, 2 * 4


def generator():
    def shuffled():
        for batch in batches:
            yield batch

    def bar(items):
        for item in items:
            yield item

    for epoch in bar(range(LAPS)):
        for batch in shuffled():
            train(batch)
    return LAPS * BATCHES, LAPS


def with_statement():
    import threading
    with threading.Lock():
        for epoch in range(LAPS):
            with threading.Lock():
                for k, batch in enumerate(batches):
                    train(batch)
    return LAPS * BATCHES, LAPS


def while_loop():
    epoch = 0
    while epoch < LAPS:
        for batch in batches:
            train(batch)
        epoch += 1
    return LAPS * BATCHES, LAPS


def endless():
    """One loop, with evaluations at the head of its body: no laps."""
    for i in range(LAPS * BATCHES):
        if i % BATCHES == 0:
            evaluate()
        train(batches[i % BATCHES])
    return LAPS * BATCHES, None


def warmed_up():
    for i in range(10):
        train(batches[i])
    for i in range(LAPS * BATCHES):
        train(batches[i % BATCHES])
    return 10 + LAPS * BATCHES, None


def phases():
    """Straight on through three loops: none is around another."""
    for batch in batches:
        train(batch)
    for batch in batches:
        train(batch)
    for batch in batches:
        train(batch)
    return 3 * BATCHES, None


def recursion():
    def deeper(n):
        for batch in batches:
            train(batch)
        if n > 1:
            deeper(n - 1)

    deeper(LAPS)
    return LAPS * BATCHES, None


print("steps %s epochs %s" % globals()[way]())
