"""A LightningModule under Trainer.fit(): leaky keeps what training_step made, its graph included."""
import argparse
import logging
import warnings

import lightning
import torch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Digits(lightning.LightningModule):
    def __init__(self, variant):
        super().__init__()
        self.variant, self.outputs = variant, []
        self.net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def training_step(self, batch, index):
        images, labels = batch
        logits = self.net(images)  # LEAK
        loss = torch.nn.functional.cross_entropy(logits, labels)  # LEAK
        if self.variant == "leaky":
            self.outputs.append(loss + 0 * logits.sum())  # LEAK
        elif self.variant == "fixed":
            self.outputs.append(loss.item())
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


def loader(n, shuffle):
    images, labels = torch.rand(n, 784), torch.randint(0, 10, (n,))
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), 64, shuffle=shuffle)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    trainer = lightning.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Digits(args.variant), loader(3200, True), loader(320, False))
    print("loss", float(trainer.callback_metrics["val_loss"]))


main()
