"""A character model unrolled by hand, whose running loss is added up as a tensor: `total_loss += loss` keeps
every step's graph. backward() has freed what the nodes had saved, but not the nodes, and an LSTM cell unrolled
over a line of text has several hundred of them. It models the complaint that host memory climbs by the step
while the model stays small (Lightning#4556 and its kin). The fix adds up `loss.item()`.

usage: total_loss.py [leaky|fixed] [--steps N]"""
import argparse

import torch
import torch.nn.functional as F

LINE = 32
BATCH = 8
WORDS = "the model reads a line of text and says what letter comes next in the line".split()


def text(n, seed=0):
    """A long string of words drawn at random, as numbers 0..26."""
    chosen = torch.randint(len(WORDS), (n,), generator=torch.Generator().manual_seed(seed))
    letters = " ".join(WORDS[i] for i in chosen)
    return torch.tensor([0 if c == " " else ord(c) - ord("a") + 1 for c in letters])


class CharModel(torch.nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.width = width
        self.embedding = torch.nn.Embedding(27, 24)
        self.cell = torch.nn.LSTMCell(24, width)
        self.head = torch.nn.Linear(width, 27)

    def forward(self, letters):
        h = torch.zeros(letters.shape[0], self.width)
        c = torch.zeros_like(h)
        outputs = []
        for letter in self.embedding(letters).unbind(1):  # LEAK
            h, c = self.cell(letter, (h, c))  # LEAK
            outputs.append(h)
        return self.head(torch.stack(outputs, 1))  # LEAK


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=160)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    corpus = text(20000)
    net = CharModel()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    total_loss = 0.0
    for step in range(args.steps):
        starts = torch.randint(len(corpus) - LINE - 1, (BATCH,))
        lines = torch.stack([corpus[s:s + LINE + 1] for s in starts.tolist()])
        logits = net(lines[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 27), lines[:, 1:].reshape(-1))  # LEAK
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if args.variant == "leaky":
            total_loss = total_loss + loss  # LEAK
        else:
            total_loss = total_loss + loss.item()
        if (step + 1) % 40 == 0:
            print("step %d: mean loss %.4f" % (step + 1, float(total_loss) / (step + 1)), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
