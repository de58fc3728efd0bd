# -*- coding: utf-8 -*-
"""Dialogue server: each turn of a conversation goes through an attention block over the conversation so far. The
state of a conversation lives in a dict of sessions; a message of "bye" ends it.

python j13_dialogue_server.py [drop|stay]"""
import sys
from dataclasses import dataclass, field

import torch

torch.set_num_threads(1)


@dataclass
class Session:
    user: int
    keys: list = field(default_factory=list)
    values: list = field(default_factory=list)


class Server(object):
    def __init__(self, on_bye):
        g = torch.Generator().manual_seed(2)
        self.w = torch.randn(3, 96, 96, generator=g) / 10
        self.embedding = torch.randn(300, 96, generator=g)
        self.on_bye = on_bye
        self.sessions = {}
        self.turns = 0

    @torch.no_grad()
    def turn(self, sid, user, tokens, bye):
        s = self.sessions.setdefault(sid, Session(user))
        x = self.embedding[tokens]
        s.keys.append(x @ self.w[0])  # LEAK HELD
        s.values.append(x @ self.w[1])  # LEAK HELD
        k, v = torch.cat(s.keys), torch.cat(s.values)
        h = ((x @ self.w[2]) @ k.t() / 96 ** 0.5).softmax(-1) @ v
        reply = (h[-1] @ self.embedding.t()).argmax().item()
        self.turns += 1
        if bye and self.on_bye == "drop":
            del self.sessions[sid]
        return reply


def traffic(n, users=10):
    g = torch.Generator().manual_seed(6)
    current, next_id = {}, 0
    for _ in range(n):
        u = int(torch.randint(users, (1,), generator=g))
        if u not in current:
            current[u] = [next_id, int(torch.randint(2, 7, (1,), generator=g))]
            next_id += 1
        sid, left = current[u]
        current[u][1] -= 1
        if left == 1:
            del current[u]
        yield sid, u, torch.randint(0, 300, (32,), generator=g), left == 1


if __name__ == "__main__":
    server = Server(sys.argv[1] if len(sys.argv) > 1 else "stay")
    checksum = 0
    for message in traffic(2400):
        checksum = (checksum * 31 + server.turn(*message)) % 99991
    print("turns", server.turns, "checksum", checksum)
