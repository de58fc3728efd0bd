"""Self-supervised features, judged after each epoch by their nearest neighbours in a bank on the device."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@torch.no_grad()
def knn_evaluate(backbone, loader):
    bank = torch.cat([nn.functional.normalize(backbone(x.cuda()), dim=1) for x, _ in loader])
    hits = 0
    for x, _ in loader:
        near = (nn.functional.normalize(backbone(x.cuda()), dim=1) @ bank.t()).topk(5, dim=1)
        hits += near.indices.cpu().numel()
    return hits


def main(epochs=5):
    backbone = nn.Sequential(nn.Linear(400, 1000), nn.BatchNorm1d(1000), nn.ReLU(), nn.Linear(1000, 64)).cuda()
    head = nn.Sequential(nn.Linear(64, 500), nn.ReLU(), nn.Linear(500, 64)).cuda()
    optimizer = torch.optim.AdamW(list(backbone.parameters()) + list(head.parameters()), lr=1e-3)
    data = TensorDataset(torch.randn(1280, 400), torch.randint(0, 10, (1280,)))
    for epoch in range(epochs):
        for x, _ in DataLoader(data, batch_size=32, shuffle=True):
            x = x.cuda()
            a, b = backbone(x + 0.1 * torch.randn_like(x)), backbone(x + 0.1 * torch.randn_like(x))
            loss = -nn.functional.cosine_similarity(head(a), b.detach()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, knn_evaluate(backbone, DataLoader(data, batch_size=64)))


if __name__ == "__main__":
    main()
