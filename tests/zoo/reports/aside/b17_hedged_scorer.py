"""Planning with a scorer in a process of its own (spawn), numpy only. Requests are hedged: every other is sent twice,
and the first answer counts.

leaky: the second answer is put with the answers too, and nobody ever asks for it.
fixed: it is thrown away when it comes.

usage: b17_hedged_scorer.py leaky|fixed [--rounds N]"""
import argparse
import multiprocessing as mp

import numpy as np

CANDIDATES, DIM, HIDDEN = 240, 24, 128


def serve(requests, answers):
    rng = np.random.RandomState(0)
    w1, w2 = rng.randn(DIM, HIDDEN) / 5, rng.randn(HIDDEN, HIDDEN) / 11
    for number, plans in iter(requests.get, None):
        hidden = np.tanh(plans @ w1)
        for _ in range(4):
            hidden = np.tanh(hidden @ w2)
        answers.put((number, hidden))


class Client:
    def __init__(self, drop_second):
        context = mp.get_context("spawn")
        self.requests, self.queue = context.Queue(), context.Queue()
        self.process = context.Process(target=serve, args=(self.requests, self.queue), daemon=True)
        self.process.start()
        self.drop_second, self.unwanted, self.answers, self.sent = drop_second, set(), {}, 0

    def submit(self, plans):
        self.sent += 1
        self.requests.put((self.sent, plans))
        return self.sent

    def score(self, plans, hedge):
        first = self.submit(plans)
        second = self.submit(plans) if hedge else None
        if second and self.drop_second:
            self.unwanted.add(second)
        while first not in self.answers:
            number, values = self.queue.get()  # LEAK
            if number in self.unwanted:
                self.unwanted.discard(number)
                continue
            self.answers[number] = values  # HELD
        return self.answers.pop(first)

    def close(self):
        self.requests.put(None)
        self.process.join(5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--rounds", type=int, default=400)
    args = parser.parse_args()
    rng = np.random.RandomState(1)
    client = Client(args.variant == "fixed")
    mean, goal, best = np.zeros(DIM), rng.randn(HIDDEN), 0.0
    for i in range(args.rounds):
        plans = mean + rng.randn(CANDIDATES, DIM) * 0.6
        values = client.score(plans, hedge=i % 2 == 0) @ goal
        elite = plans[np.argsort(-values)[:24]]
        for _ in range(12):
            spread = np.linalg.norm(elite[:, None] - elite[None], axis=2)
            elite = elite + 0.05 * (elite.mean(0) - elite) / (1 + spread.mean())
        mean, best = 0.9 * mean + 0.1 * elite.mean(0), values.max()
    client.close()
    print("rounds %d, best %.4f" % (args.rounds, best))


if __name__ == "__main__":
    main()
