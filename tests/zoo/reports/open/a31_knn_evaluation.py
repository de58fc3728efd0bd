"""Self-supervised pretext training with a nearest-neighbour evaluation over all features after each epoch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def augment(x, gen):
    return x + 0.2 * torch.randn(x.shape, generator=gen)


def encoder():
    return nn.Sequential(nn.Unflatten(1, (1, 48)), nn.Conv1d(1, 12, 7, stride=3), nn.ReLU(), nn.Conv1d(12, 16, 3, stride=2),
                         nn.Flatten())


def nt_xent(a, b, t=0.2):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / t
    sim.fill_diagonal_(-1e9)
    n = len(a)
    return F.cross_entropy(sim, torch.cat([torch.arange(n, 2 * n), torch.arange(n)]))


@torch.no_grad()
def knn_accuracy(net, x, y, n_train, k=5):
    z = torch.cat([net(part) for part in x.split(128)])[:, :12]
    d = (z[n_train:, None] - z[None, :n_train]).pow(2)
    near = d.sum(-1).topk(k, largest=False).indices
    votes = F.one_hot(y[:n_train][near], 5).sum(1).argmax(1)
    return (votes == y[n_train:]).float().mean().item()


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    centers = torch.randn(5, 48, generator=gen)
    y = torch.randint(5, (1500,), generator=gen)
    x = centers[y] + 0.7 * torch.randn(1500, 48, generator=gen)
    net = encoder()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    acc = []
    for epoch in range(5):
        for idx in torch.randperm(1500, generator=gen).split(48):
            loss = nt_xent(net(augment(x[idx], gen)), net(augment(x[idx], gen)))
            opt.zero_grad()
            loss.backward()
            opt.step()
        acc.append(knn_accuracy(net, x, y, 1000))
    print("steps %d loss %.3f knn %s" % (5 * 32, loss.item(), ["%.2f" % a for a in acc]))


if __name__ == "__main__":
    main()
