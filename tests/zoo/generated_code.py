"""A search over formulas (symbolic regression): each candidate becomes Python code that is compiled, run on the batch
and scored; the best ones are mixed by weights that a network learns. The compiled functions are kept under the
candidate's text, "so that none is compiled twice", with the table of values that each computed; texts never repeat, so
each step adds some dozens of functions, every one with lines of its own. No line of code keeps growing: the process
does. The fix keeps the candidates of the last few steps.

usage: generated_code.py [leaky|fixed] [--steps N]"""
import argparse
import collections
import itertools
import random

import numpy as np
import torch

CANDIDATES, BATCH, KEPT = 32, 2048, 128


class Formulas(object):
    def __init__(self, most):
        self.of_text = collections.OrderedDict()
        self.most = most
        self.numbers = itertools.count()

    def add(self, text):
        """Compiles a candidate: a function of its own, in a file of its own, as debuggers want it."""
        number = next(self.numbers)
        source = "import numpy as np\n%sdef formula(x):\n    return %s\n" % ("\n" * (number % 97), text)
        namespace = {}
        exec(compile(source, "candidate_%d.py" % number, "exec"), namespace)
        self.of_text[text] = [namespace["formula"], None]
        if self.most and len(self.of_text) > self.most:
            self.of_text.popitem(last=False)

    def score(self, text, x, y):
        entry = self.of_text[text]
        entry[1] = entry[0](x)  # LEAK
        return float(np.square(entry[1] - y).mean())


def candidate(rng):
    return "x * %r + np.sin(x * %r) * %r" % (rng.gauss(0, 1), rng.gauss(0, 3), rng.gauss(0, 1))


def search(formulas, rng, x, y):
    texts = [candidate(rng) for _ in range(CANDIDATES)]
    for text in texts:
        formulas.add(text)
    scored = [(formulas.score(text, x, y), text) for text in texts]
    return [formulas.of_text[text][1] for _, text in sorted(scored)[:8]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng, formulas = random.Random(0), Formulas(None if args.variant == "leaky" else KEPT)
    weigh = torch.nn.Linear(8, 1)
    optimizer = torch.optim.Adam(weigh.parameters(), lr=1e-2)
    for step in range(args.steps):
        x = np.random.default_rng(step).normal(size=BATCH)
        y = 0.7 * x + 0.3 * np.sin(2 * x)
        best = search(formulas, rng, x, y)
        loss = (weigh(torch.tensor(np.stack(best, 1), dtype=torch.float32))[:, 0] - torch.tensor(y)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 50 == 0:
            print("step %d: loss %.4f, %d formulas" % (step + 1, loss.item(), len(formulas.of_text)), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
