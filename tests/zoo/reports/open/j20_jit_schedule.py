"""Logistic regression in the style of a tracing compiler's users: a function is 'compiled' for each new signature
(shapes of the arrays, values of the static arguments) and the executable is cached.

python j20_jit_schedule.py [static|traced]       how the learning rate is passed"""
import functools
import sys

import numpy as np


class Executable:
    """What a compiler makes of a function for a signature: the plan and its scratch arena."""

    def __init__(self, fn, arrays, static):
        self.fn, self.static = fn, static
        need = sum(a.nbytes for a in arrays)
        self.arena = np.zeros(need // 2, dtype=np.uint8)  # LEAK
        self.hlo = "%s(%s; %s)" % (fn.__name__, ",".join(str(a.shape) for a in arrays), static)

    def __call__(self, *arrays):
        self.arena[:64] = 1
        return self.fn(*arrays, *self.static)


def jit(fn, static_argnums=()):
    cache = {}

    @functools.wraps(fn)
    def call(*args):
        static = tuple(args[i] for i in static_argnums)
        arrays = [np.asarray(a) for i, a in enumerate(args) if i not in static_argnums]
        key = tuple((a.shape, a.dtype.str) for a in arrays), static
        if key not in cache:
            cache[key] = Executable(fn, arrays, static)  # HELD
        return cache[key](*arrays)
    call.cache = cache
    return call


def sgd(w, x, y, lr):
    p = 1 / (1 + np.exp(-(x @ w)))
    grad = x.T @ (p - y) / len(y)
    loss = -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9))
    return w - lr * grad, loss


mode = sys.argv[1] if len(sys.argv) > 1 else "static"
update = jit(sgd, static_argnums=(3,) if mode == "static" else ())
rng = np.random.default_rng(0)
true = rng.normal(size=256)
w = np.zeros(256)
steps_per_epoch, epochs = 400, 4
for epoch in range(epochs):
    for i in range(steps_per_epoch):
        x = rng.normal(size=(128, 256))
        y = (x @ true > 0).astype(np.float64)
        t = (epoch * steps_per_epoch + i) / (steps_per_epoch * epochs)
        lr = 0.5 * (1 + np.cos(np.pi * t))
        w, loss = update(w, x, y, float(lr))
    print("epoch %d loss %.3f" % (epoch, loss), flush=True)
