"""Self-play on rock-paper-scissors with memory: earlier selves are kept as opponents."""
import argparse
import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Player(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.embed = nn.Embedding(9 ** 4, d)   # what both did in the last four rounds
        self.head = nn.Linear(d, 3)
        self.value = nn.Linear(d, 1)

    def forward(self, state):
        h = torch.relu(self.embed(state))
        return self.head(h), self.value(h).squeeze(-1)


class League:
    def __init__(self, size):
        self.size = size
        self.members = []

    def join(self, player):
        frozen = copy.deepcopy(player).requires_grad_(False)  # LEAK
        if self.size and len(self.members) >= self.size:
            self.members[random.randrange(len(self.members))] = frozen
        else:
            self.members.append(frozen)  # HELD

    def pick(self):
        return random.choice(self.members)


def play(a, b, n, rounds, gen):
    state_a = torch.zeros(n, dtype=torch.long)
    state_b = torch.zeros(n, dtype=torch.long)
    logps, values, rewards, ents = [], [], [], []
    for _ in range(rounds):
        logits, v = a(state_a)
        with torch.no_grad():
            other = torch.multinomial(b(state_b)[0].softmax(-1), 1, generator=gen).squeeze(1)
        p = logits.softmax(-1)
        mine = torch.multinomial(p.detach(), 1, generator=gen).squeeze(1)
        logps.append(F.log_softmax(logits, -1).gather(1, mine[:, None]).squeeze(1))
        ents.append(-(p * p.clamp_min(1e-8).log()).sum(-1))
        values.append(v)
        rewards.append((((mine - other) % 3 == 1).float() - ((mine - other) % 3 == 2).float()))
        state_a = (state_a * 9 + mine * 3 + other) % 9 ** 4
        state_b = (state_b * 9 + other * 3 + mine) % 9 ** 4
    return [torch.stack(t) for t in (logps, values, rewards, ents)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=160)
    ap.add_argument("--join-every", type=int, default=4)
    ap.add_argument("--league-size", type=int, default=0, help="0 for no limit")
    args = ap.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    player, league = Player(), League(args.league_size)
    opt = torch.optim.Adam(player.parameters(), lr=3e-3)
    for u in range(args.updates):
        if u % args.join_every == 0:
            league.join(player)
        logp, value, reward, ent = play(player, league.pick(), 32, 6, gen)
        adv = reward - value
        loss = -(logp * adv.detach()).mean() + adv.pow(2).mean() - 0.01 * ent.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("updates %d, reward %.3f, league of %d" % (args.updates, reward.mean().item(), len(league.members)))


if __name__ == "__main__":
    main()
