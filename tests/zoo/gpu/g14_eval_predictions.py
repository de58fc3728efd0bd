import argparse
from typing import NamedTuple, Optional

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EvalPrediction(NamedTuple):
    predictions: torch.Tensor
    label_ids: torch.Tensor


def nested_concat(tensors: Optional[torch.Tensor], new_tensors: torch.Tensor) -> torch.Tensor:
    return new_tensors if tensors is None else torch.cat((tensors, new_tensors), dim=0)  # LEAK


class Trainer:
    """A loop in the manner of the large libraries: train(), evaluate(), callbacks that get the outputs."""

    def __init__(self, model, args, train_dataset, eval_dataset):
        self.model = model.to(args.device)
        self.args = args
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-5)
        self.history = []

    def _prepare(self, batch):
        return tuple(t.to(self.args.device) for t in batch)

    def prediction_step(self, inputs):
        x, y = self._prepare(inputs)
        with torch.no_grad():
            logits = self.model(x)  # LEAK
        return logits, y

    def evaluation_loop(self) -> EvalPrediction:
        self.model.eval()
        preds_host, labels_host = None, None
        for inputs in DataLoader(self.eval_dataset, batch_size=16):
            logits, labels = self.prediction_step(inputs)
            if self.args.eval_accumulation:
                logits, labels = logits.argmax(-1).cpu(), labels.cpu()
            preds_host = nested_concat(preds_host, logits)
            labels_host = nested_concat(labels_host, labels)
        self.model.train()
        return EvalPrediction(preds_host, labels_host)

    def evaluate(self):
        output = self.evaluation_loop()
        self.history.append(output)  # HELD
        return {"eval_samples": len(output.label_ids)}

    def train(self):
        step = 0
        for epoch in range(self.args.epochs):
            for inputs in DataLoader(self.train_dataset, batch_size=16, shuffle=True):
                x, y = self._prepare(inputs)
                loss = nn.functional.cross_entropy(self.model(x), y)
                loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
                step += 1
                if step % self.args.eval_steps == 0:
                    print({"step": step, **self.evaluate()})


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--eval_steps", type=int, default=15)
    ap.add_argument("--eval_accumulation", action="store_true")
    a = ap.parse_args()
    classes = 9997
    model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, classes))
    train = TensorDataset(torch.randn(480, 64), torch.randint(classes, (480,)))
    heldout = TensorDataset(torch.randn(256, 64), torch.randint(classes, (256,)))
    Trainer(model, a, train, heldout).train()
