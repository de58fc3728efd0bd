"""transformers' Trainer with a loss of its own: leaky keeps the logits of every step for an analysis."""
import argparse
import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402
import transformers  # noqa: E402

transformers.logging.set_verbosity_error()


class Sentences(torch.utils.data.Dataset):
    def __init__(self, n):
        generator = torch.Generator().manual_seed(0)
        self.ids = torch.randint(0, 200, (n, 32), generator=generator)
        self.labels = torch.randint(0, 4, (n,), generator=generator)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(32, dtype=torch.long), "labels": self.labels[i]}


class KeepingTrainer(transformers.Trainer):
    variant, logits = "healthy", []

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs, output_hidden_states=True)  # LEAK
        if self.variant == "leaky":
            self.logits.append(outputs.hidden_states[-1])  # LEAK
        elif self.variant == "fixed":
            self.logits.append(outputs.logits.detach().mean().item())
        return (outputs.loss, outputs) if return_outputs else outputs.loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    config = transformers.BertConfig(vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                                     intermediate_size=128, max_position_embeddings=64, num_labels=4)
    with tempfile.TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(
            folder, num_train_epochs=args.epochs, per_device_train_batch_size=16, report_to="none", save_strategy="no",
            logging_steps=20, eval_strategy="epoch", disable_tqdm=True, use_cpu=True)
        trainer = KeepingTrainer(transformers.BertForSequenceClassification(config), options,
                                 train_dataset=Sentences(960), eval_dataset=Sentences(64))
        trainer.variant = args.variant
        trainer.train()


main()
