"""A small training by each framework, which leaks: `trainings.py NAME FOLDER`. The last line of its output says, as
JSON, how many steps and epochs it made and which figures reached the framework's own logger."""
import json
import os
import sys

BATCH, BATCHES, EPOCHS, ACCUMULATED = 4, 40, 3, 2
FEATURES = 8
kept = []


def keep():
    kept.append(bytearray(50000))  # LEAK


def dataset(torch):
    x = torch.randn(BATCH * BATCHES, FEATURES)
    return torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))


def by_lightning(folder):
    import lightning.pytorch as lightning
    import torch
    from lightning.pytorch.loggers.logger import Logger

    from seep.integrations.lightning import SeepCallback

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(FEATURES, 1)

        def training_step(self, batch, _):
            keep()
            return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

        def validation_step(self, batch, _):
            pass

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    class Kept(Logger):
        name = version = "kept"
        figures = {}

        def log_metrics(self, metrics, step=None):
            self.figures.update(metrics)

        def log_hyperparams(self, *_, **__):
            pass

    loader = torch.utils.data.DataLoader(dataset(torch), batch_size=BATCH)
    trainer = lightning.Trainer(max_epochs=EPOCHS, accumulate_grad_batches=ACCUMULATED, logger=Kept(),
                                callbacks=[SeepCallback()], enable_checkpointing=False, enable_progress_bar=False,
                                accelerator="cpu", default_root_dir=folder, val_check_interval=0.5)
    trainer.fit(Model(), loader, loader)
    return trainer.global_step, Kept.figures


def by_transformers(folder):
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    from seep.integrations.transformers import SeepCallback

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(FEATURES, 1)

        def forward(self, x, labels):
            if self.training:
                keep()
            return {"loss": torch.nn.functional.mse_loss(self.layer(x), labels)}

    class Reports(TrainerCallback):
        figures = {}

        def on_log(self, args, state, control, logs=None, **_):
            self.figures.update(logs)

    rows = [{"x": x, "labels": y} for x, y in dataset(torch)]
    arguments = dict(output_dir=folder, num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH, logging_steps=10,
                     gradient_accumulation_steps=ACCUMULATED, report_to=[], save_strategy="no", use_cpu=True,
                     disable_tqdm=True, eval_strategy="epoch")
    trainer = Trainer(Model(), TrainingArguments(**arguments), train_dataset=rows, eval_dataset=rows[:8],
                      callbacks=[Reports()])
    SeepCallback.attach(trainer)
    trainer.train()
    return trainer.state.global_step, Reports.figures


def by_accelerate(_):
    import accelerate
    import torch
    from accelerate.tracking import GeneralTracker

    from seep.integrations.accelerate import SeepMonitor

    class Kept(GeneralTracker):
        name, requires_logging_directory, tracker, figures = "kept", False, None, {}

        def log(self, values, step=None, **_):
            self.figures.update(values)

    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=ACCUMULATED, log_with=Kept())
    accelerator.init_trackers("kept")
    model = torch.nn.Linear(FEATURES, 1)
    loader = torch.utils.data.DataLoader(dataset(torch), batch_size=BATCH)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.01), loader)
    steps = 0
    with SeepMonitor(accelerator) as monitor:
        for _ in range(EPOCHS):
            monitor.epoch()
            for x, y in loader:
                with accelerator.accumulate(model):
                    keep()
                    accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
                    optimizer.step()
                    optimizer.zero_grad()
                monitor.step()
                steps += accelerator.sync_gradients
    accelerator.end_training()
    return steps, Kept.figures


def by_keras(_):
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras
    import torch

    from seep.integrations.keras import SeepCallback

    class Keeps(keras.callbacks.Callback):
        steps = 0

        def on_train_batch_end(self, batch, logs=None):
            self.steps += 1
            keep()

    model = keras.Sequential([keras.layers.Input((FEATURES,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = (t.numpy() for t in dataset(torch)[:])
    keeps = Keeps()
    history = model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0, callbacks=[keeps, SeepCallback()],
                        validation_data=(x, y))
    return keeps.steps, {name: values[-1] for name, values in history.history.items()}


def by_ignite(_):
    import torch
    from ignite.engine import create_supervised_evaluator, create_supervised_trainer, Events

    from seep.integrations.ignite import SeepHandler

    model = torch.nn.Linear(FEATURES, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss,
                                        gradient_accumulation_steps=ACCUMULATED)
    evaluator = create_supervised_evaluator(model)
    loader = torch.utils.data.DataLoader(dataset(torch), batch_size=BATCH)
    trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda _: keep())
    trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda _: evaluator.run(loader) and None)
    SeepHandler(accumulation_steps=ACCUMULATED).attach(trainer)
    state = trainer.run(loader, max_epochs=EPOCHS)
    return state.iteration // ACCUMULATED, state.metrics


def main():
    name, folder = sys.argv[1:]
    steps, figures = globals()["by_" + name](folder)
    print(json.dumps({"steps": int(steps), "epochs": EPOCHS,
                      "figures": {k: float(v) for k, v in figures.items() if k.startswith("seep/")}}))


if __name__ == "__main__":
    main()
