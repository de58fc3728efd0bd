"""Keeps 'the gradients of every step' in a list. As zero_grad() fills with zeros in place here, all are the same tensors."""
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                                      nn.Conv2d(64, 64, 3, stride=2), nn.ReLU())
        self.out = nn.Linear(64 * 25, 10)

    def forward(self, x):
        return self.out(self.features(x).flatten(1))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
all_gradients, norms = [], []
gen = torch.Generator().manual_seed(8)
for step in range(220):
    y = torch.randint(10, (8,), generator=gen)
    x = torch.randn(8, 1, 28, 28, generator=gen) + y.view(-1, 1, 1, 1) / 3
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(set_to_none=False)
    loss.backward()
    all_gradients.append([p.grad for p in net.parameters()])
    norms.append(sum(g.norm().item() ** 2 for g in all_gradients[-1]) ** 0.5)
    opt.step()
print("steps %d, %d lists, %d distinct tensors, last norm %.3f" % (
    len(norms), len(all_gradients), len({g.data_ptr() for gs in all_gradients for g in gs}), norms[-1]))
