"""transformers' Trainer on a tiny model, with a callback that keeps each step's outputs; says their size by storages."""
import torch
import transformers


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 20000)
        self.kept = []

    def forward(self, x, labels=None):
        logits = self.layer(x)
        self.kept.append(logits.detach())
        return {"loss": logits.square().mean(), "logits": logits}


data = [{"x": torch.ones(16), "labels": torch.tensor(0)} for _ in range(160)]
model = Tiny()
arguments = transformers.TrainingArguments(output_dir="/tmp/unused", per_device_train_batch_size=8, num_train_epochs=2, report_to=[],
                                           save_strategy="no", disable_tqdm=True, logging_strategy="no", use_cpu=True)
trainer = transformers.Trainer(model=model, args=arguments, train_dataset=data)
trainer.train()
print(sum(kept.storage().nbytes() for kept in model.kept), flush=True)
input()
