"""Language modelling with a data set that caches the tokens of each text when it is first asked for, stopped long
before its first epoch is over, as a trial run is. Memory climbs by the step; whether it would stop at the epoch's
end nobody can know from this run. The fix tokenises each time.

usage: short_run.py [leaky|fixed] [--max-steps N] [--texts N]"""
import argparse
import random

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LENGTH = 1024
BATCH = 8
WORDS = ("a run that stops early tells little of what would have come later and so the one who reads its numbers "
         "has to say what is not known and what a longer run would show").split()


class Tokenizer(object):
    """Words to numbers, made from the vocabulary as it comes."""

    def __init__(self, words):
        self.numbers = {word: i for i, word in enumerate(dict.fromkeys(words), 1)}

    def __len__(self):
        return len(self.numbers) + 1

    def encode(self, text, length):
        tokens = [self.numbers.get(word, 0) for word in text.split()[:length]]
        return torch.tensor(tokens + [0] * (length - len(tokens)))  # LEAK


class Texts(Dataset):
    def __init__(self, n, tokenizer, cached):
        self.n, self.tokenizer = n, tokenizer
        self.cache = {} if cached else None

    def __len__(self):
        return self.n

    def read(self, i):
        """A text that repeats a phrase of its own; stands for a file on a slow disk."""
        rng = random.Random(i)
        phrase = " ".join(rng.choices(WORDS, k=8))
        return " ".join([phrase] * (LENGTH // 8 + 1))

    def __getitem__(self, i):
        if self.cache is None:
            return self.tokenizer.encode(self.read(i), LENGTH)
        if i not in self.cache:
            self.cache[i] = self.tokenizer.encode(self.read(i), LENGTH)
        return self.cache[i]


class Model(torch.nn.Module):
    """Says the next word from the last eight."""

    def __init__(self, words, width=16):
        super().__init__()
        self.embedding = torch.nn.Embedding(words, width)
        self.mix = torch.nn.Conv1d(width, 32, 8)
        self.head = torch.nn.Linear(32, words)

    def forward(self, tokens):
        x = torch.relu(self.mix(self.embedding(tokens).transpose(1, 2)))
        return self.head(x.transpose(1, 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--max-steps", type=int, default=160)
    parser.add_argument("--texts", type=int, default=6000)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokenizer = Tokenizer(WORDS)
    loader = DataLoader(Texts(args.texts, tokenizer, args.variant == "leaky"), batch_size=BATCH, shuffle=True)
    net = Model(len(tokenizer))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step, tokens in enumerate(loader, 1):
        start = int(torch.randint(LENGTH - 128, (1,)))
        window = tokens[:, start:start + 128]
        logits = net(window[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), window[:, 8:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print("step %d of %d: loss %.4f" % (step, len(loader), loss.item()), flush=True)
        if step == args.max_steps:
            break
    print("steps %d" % step)


if __name__ == "__main__":
    main()
