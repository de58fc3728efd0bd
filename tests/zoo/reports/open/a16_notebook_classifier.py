# %% [markdown]
# Thousand-way classification from short codes; converted from a notebook.
# %%
import sys

import numpy as np
import torch
import torch.nn as nn

PER_EPOCH = "--fresh-arrays" in sys.argv
torch.manual_seed(42)
N_CLASSES, BS, EPOCHS = 1000, 32, 6

# %%
codes = torch.randint(0, 4000, (1280, 6), generator=torch.Generator().manual_seed(0))
labels = codes[:, :3].sum(1) // 12 % 8 * 125
train_idx, val_idx = torch.arange(0, 960), torch.arange(960, 1280)
model = nn.Sequential(nn.EmbeddingBag(4000, 24), nn.ReLU(), nn.Linear(24, N_CLASSES))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

# %%
val_probs = torch.empty(0, N_CLASSES)
val_true = np.array([], dtype=np.int64)
history = {"train": [], "val": []}
for epoch in range(EPOCHS):
    model.train()
    losses = []
    for idx in train_idx[torch.randperm(len(train_idx))].split(BS):
        optimizer.zero_grad()
        loss = criterion(model(codes[idx]), labels[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    history["train"].append(np.mean(losses))

    model.eval()
    if PER_EPOCH:
        val_probs = torch.empty(0, N_CLASSES)
        val_true = np.array([], dtype=np.int64)
    with torch.no_grad():
        for idx in val_idx.split(BS):
            probs = model(codes[idx]).softmax(1)
            val_probs = torch.cat([val_probs, probs])  # LEAK HELD
            val_true = np.append(val_true, labels[idx].numpy())
    last = slice(-len(val_idx), None)
    history["val"].append(float((val_probs[last].argmax(1).numpy() == val_true[last]).mean()))

# %%
print("val accuracy by epoch", ["%.3f" % v for v in history["val"]])
