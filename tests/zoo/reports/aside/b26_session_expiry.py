"""A dialogue scorer that has a state for each user and forgets those who have not been there for 150 requests. Users come
anew all the time; after a quarter of the run as many go as come.

usage: b26_session_expiry.py [--requests N]"""
import collections
import sys

import numpy as np
import torch
import torch.nn as nn

DIM, TURNS, IDLE = 128, 48, 150


class Session:
    __slots__ = ("hidden", "turns")

    def __init__(self):
        self.hidden = torch.zeros(1, 1, DIM)
        self.turns = torch.zeros(TURNS, DIM)


class Server:
    def __init__(self):
        self.embed, self.rnn, self.head = nn.Embedding(500, DIM), nn.GRU(DIM, DIM, batch_first=True), nn.Linear(DIM, 8)
        self.sessions, self.last, self.now, self.most = collections.OrderedDict(), {}, 0, 0

    def session(self, user):
        self.now += 1
        self.last[user] = self.now
        if user in self.sessions:
            self.sessions.move_to_end(user)
        else:
            self.sessions[user] = Session()
        while self.last[next(iter(self.sessions))] <= self.now - IDLE:
            gone, _ = self.sessions.popitem(last=False)
            del self.last[gone]
        self.most = max(self.most, len(self.sessions))
        return self.sessions[user]

    @torch.no_grad()
    def answer(self, user, ids):
        session = self.session(user)
        out, session.hidden = self.rnn(self.embed(ids)[None], session.hidden)
        session.turns = torch.cat((session.turns[1:], out[:, -1]))
        weights = torch.softmax(session.turns @ out[0, -1] / DIM ** 0.5, 0)
        return int(self.head(weights @ session.turns).argmax())


def main(requests):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.RandomState(0)
    server, answers, newest = Server(), np.zeros(8, int), 0
    for _ in range(requests):
        newest += rng.rand() < 0.85
        user = max(0, newest - int(rng.exponential(6)))
        answers[server.answer("user%d" % user, torch.from_numpy(rng.randint(500, size=64)))] += 1
    print("requests %d, sessions %d (most %d), answers %s" % (requests, len(server.sessions), server.most, answers.tolist()))


if __name__ == "__main__":
    main(int(sys.argv[2]) if "--requests" in sys.argv else 800)
