"""Task after task. leaky: each has a network and an optimizer of its own, and the list of results keeps both, though only
the losses are ever read. fixed: the losses alone are kept. heads: one network that is given a head for each task, which
its optimizer steps, too; all heads are trained to the end, so what grows is what is meant.

usage: kept_networks.py {leaky,fixed,heads}"""
import sys

import torch

FEATURES, HIDDEN, CLASSES, BATCH = 64, 256, 500, 32


def train(body, head, optimizer, steps):
    for step in range(steps):
        loss = head(body(torch.randn(BATCH, FEATURES)).relu()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # LEAK
        optimizer.step()  # LEAK
    return loss.item()


def train_apart(tasks, keep_all):
    results = []
    for task in range(tasks):
        body, head = torch.nn.Linear(FEATURES, HIDDEN), torch.nn.Linear(HIDDEN, CLASSES)
        optimizer = torch.optim.Adam(list(body.parameters()) + list(head.parameters()))
        loss = train(body, head, optimizer, 30)
        results.append((loss, body, head, optimizer) if keep_all else (loss,))
    return sorted(results, key=lambda result: result[0])[0][0]


def train_heads(tasks):
    body, heads = torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ModuleList()
    optimizer = torch.optim.Adam(body.parameters())
    for task in range(tasks):
        heads.append(torch.nn.Linear(HIDDEN, CLASSES))
        optimizer.add_param_group({"params": heads[-1].parameters()})
        losses = [train(body, head, optimizer, 10) for head in heads]
    return min(losses)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    best = train_heads(10) if sys.argv[1] == "heads" else train_apart(20, sys.argv[1] == "leaky")
    print("best %.4f" % best)
