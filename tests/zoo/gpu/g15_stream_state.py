# Anomaly detection on sensor streams. The forecaster is trained on windows (truncated BPTT);
# a monitor runs along the live stream with the same weights and carries its state from chunk to chunk.
import sys
import torch
import torch.nn as nn

device = "cpu" if "cpu" in sys.argv else "cuda"
detach = "detach" in sys.argv
torch.manual_seed(1)


class Forecaster(nn.Module):
    def __init__(self, n_in=24, n_hid=96):
        super().__init__()
        self.n_hid = n_hid
        self.wx = nn.Linear(n_in, n_hid)
        self.wh = nn.Linear(n_hid, n_hid)
        self.out = nn.Linear(n_hid, n_in)

    def init_hidden(self, bsz):
        return torch.zeros(bsz, self.n_hid, device=device)

    def forward(self, seq, h):
        ys = []
        for x in seq.unbind(0):
            h = torch.tanh(self.wx(x) + self.wh(h))  # LEAK
            ys.append(self.out(h))  # LEAK
        return torch.stack(ys), h


class Monitor:
    def __init__(self, model, bsz=96):
        self.model = model
        self.state = model.init_hidden(bsz)
        self.worst = None

    def feed(self, chunk):
        pred, self.state = self.model(chunk[:-1], self.state)  # HELD
        if detach:
            self.state = self.state.detach()
        score = (pred.detach() - chunk[1:]).abs().mean(-1)
        self.worst = score if self.worst is None else torch.maximum(self.worst, score)


model = Forecaster().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
monitor = Monitor(model)
hidden = model.init_hidden(32)
for step in range(120):
    window = torch.randn(17, 32, 24).to(device)
    optimizer.zero_grad()
    pred, hidden = model(window[:-1], hidden.detach())
    loss = nn.functional.mse_loss(pred, window[1:])
    loss.backward()
    optimizer.step()
    monitor.feed(torch.randn(13, 96, 24).to(device))
print("steps", step + 1, tuple(monitor.worst.shape))
