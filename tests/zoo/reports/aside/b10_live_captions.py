"""Live captions: a recurrent recogniser is trained shortly and then listens to one long broadcast chunk by chunk,
carrying its hidden state over.

leaky: it listens with gradients on, so each chunk's state hangs on the graph of all chunks before it.
fixed: it listens under torch.no_grad().

usage: b10_live_captions.py leaky|fixed [--chunks N]"""
import argparse
import contextlib

import numpy as np
import torch
import torch.nn as nn

MELS, FRAMES, SYMBOLS = 40, 24, 20


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(MELS, 32, 5, padding=2), nn.ReLU(), nn.Conv1d(32, 32, 5, padding=2), nn.ReLU())
        self.rnn = nn.GRU(32, 32, batch_first=True)
        self.head = nn.Linear(32, SYMBOLS)

    def forward(self, mel, state=None):
        out, state = self.rnn(self.front(mel).transpose(1, 2), state)  # LEAK
        return self.head(out), state


class Broadcast:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.voices = torch.randn(SYMBOLS, MELS, generator=torch.Generator().manual_seed(9))

    def chunk(self, n):
        symbols = torch.randint(SYMBOLS, (n, FRAMES // 4), generator=self.g).repeat_interleave(4, 1)
        return (self.voices[symbols] + torch.randn(n, FRAMES, MELS, generator=self.g)).transpose(1, 2), symbols


class Session:
    def __init__(self, model):
        self.model, self.state, self.recent = model, None, np.zeros((0, SYMBOLS), np.float32)

    def feed(self, mel):
        logits, self.state = self.model(mel, self.state)  # HELD
        self.recent = np.concatenate((self.recent, logits[0].detach().log_softmax(1).numpy()))[-600:]
        return torch.from_numpy(self.smooth()[-FRAMES:])

    def smooth(self, change=2.0):
        """Viterbi over the last 600 frames; another symbol costs something."""
        best, back = self.recent[0], []
        stay = np.arange(SYMBOLS)
        for frame in self.recent[1:]:
            other = best.argmax()
            moved = best[other] - change > best
            back.append(np.where(moved, other, stay))
            best = np.where(moved, best[other] - change, best) + frame
        path = [int(best.argmax())]
        for at in reversed(back):
            path.append(int(at[path[-1]]))
        return np.array(path[::-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--chunks", type=int, default=340)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, source = Recogniser(), Broadcast(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(150):
        mel, symbols = source.chunk(8)
        loss = nn.functional.cross_entropy(model(mel)[0].transpose(1, 2), symbols)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    session, live, right = Session(model), Broadcast(1), 0
    with torch.no_grad() if args.variant == "fixed" else contextlib.nullcontext():
        for _ in range(args.chunks):
            mel, symbols = live.chunk(1)
            right += int((session.feed(mel) == symbols[0]).sum())
    print("loss %.4f, chunks %d, %.3f right" % (loss.item(), args.chunks, right / FRAMES / args.chunks))


if __name__ == "__main__":
    main()
