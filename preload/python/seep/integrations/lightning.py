"""Trainer(callbacks=[SeepCallback()]), of lightning.pytorch or pytorch_lightning, whichever is in use.

A step is a batch after which trainer.global_step has moved: batches whose gradients are accumulated are one step, and
those of validation and of the sanity check are none."""
import logging

import seep
from seep.integrations import in_use, when_asked


def define():
    framework = in_use("lightning.pytorch", "pytorch_lightning")

    class SeepCallback(framework.Callback):
        def __init__(self, every=30.0):
            self.every = every

        def on_train_start(self, trainer, *_):
            log = logging.getLogger(framework.__name__).warning
            self.steps, self.monitor = trainer.global_step, seep.monitor(self.every, log)

        def on_train_epoch_start(self, *_):
            self.monitor.epoch()

        def on_train_batch_end(self, trainer, *_):
            if trainer.global_step != self.steps:
                self.steps = trainer.global_step
                self.show(trainer, self.monitor.step())

        def on_train_end(self, trainer, *_):
            self.show(trainer, self.monitor.close())

        def show(self, trainer, figures):
            for logger in trainer.loggers if figures else ():
                logger.log_metrics(figures, step=trainer.global_step)
    return SeepCallback


__getattr__ = when_asked(__name__, "SeepCallback", define)
