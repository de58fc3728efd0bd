import sys
import torch
from torch import nn

fix = "--fix" in sys.argv
device = "cuda"
model = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 4000)).to(device)
optimizer = torch.optim.Adam(model.parameters())
train_x, train_y = torch.randn(1600, 32), torch.randint(0, 4000, (1600,))
val_x, val_y = torch.randn(1600, 32), torch.randint(0, 4000, (1600,))

for epoch in range(6):
    model.train()
    for i in range(0, 1600, 64):
        x, y = train_x[i:i + 64].to(device), train_y[i:i + 64].to(device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    outputs = []
    with torch.no_grad():
        for i in range(0, 1600, 64):
            out = model(val_x[i:i + 64].to(device))  # LEAK
            outputs.append(out.argmax(1).cpu() if fix else out)  # HELD
    pred = torch.cat(outputs)
    print(epoch, len(pred))
    del outputs, pred
