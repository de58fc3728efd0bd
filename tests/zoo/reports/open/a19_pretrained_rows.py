"""Fine-tunes an embedding table of which only the rows in the batch's domain may learn: a hook masks the gradient."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--iters", type=int, default=110)
    p.add_argument("--hook", choices=("step", "once"), default="step")
    p.add_argument("--vocab", type=int, default=2500)
    p.add_argument("--dim", type=int, default=20)
    return p.parse_args()


class TextModel(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, 32, 3)
        self.fc = nn.Linear(32, 4)

    def forward(self, tokens):
        h = self.conv(self.embedding(tokens).transpose(1, 2)).relu()
        return self.fc(h.amax(2))


def domain_mask(domain, vocab, dim):
    rows = torch.arange(vocab) % 4 == domain
    return rows.float().unsqueeze(1).expand(vocab, dim).contiguous()  # LEAK


def main():
    args = parse()
    torch.manual_seed(0)
    model = TextModel(args.vocab, args.dim)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    gen = torch.Generator().manual_seed(2)
    current = {}
    if args.hook == "once":
        model.embedding.weight.register_hook(lambda grad: grad * current["mask"])
    for it in range(args.iters):
        domain = it % 4
        tokens = torch.randint(args.vocab // 4, (16, 20), generator=gen) * 4 + domain
        target = (tokens[:, :3].sum(1)) % 4
        mask = domain_mask(domain, args.vocab, args.dim)
        if args.hook == "step":
            model.embedding.weight.register_hook(lambda grad, mask=mask: grad * (mask + 0.01))  # HELD
        else:
            current["mask"] = mask + 0.01
        loss = F.cross_entropy(model(tokens), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("iters %d loss %.4f hooks %d" % (args.iters, loss.item(), len(model.embedding.weight._backward_hooks)))


if __name__ == "__main__":
    main()
