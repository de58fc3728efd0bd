"""SeepCallback.attach(trainer), or Trainer(callbacks=[SeepCallback()]).

A step is an optimizer's step as state.global_step counts it; batches of an evaluation are none. Attached, the callback
comes before those that report (TensorBoard, W&B), so that the figures are among the logs that they are given."""
import seep
from seep.integrations import when_asked


def define():
    from transformers import TrainerCallback
    from transformers.utils import logging

    class SeepCallback(TrainerCallback):
        def __init__(self, every=30.0):
            self.every, self.monitor = every, None

        @classmethod
        def attach(cls, trainer, every=30.0):
            trainer.callback_handler.callbacks.insert(0, cls(every))

        def on_train_begin(self, *_, **__):
            self.monitor = seep.monitor(self.every, logging.get_logger("transformers.trainer").warning)

        def on_epoch_begin(self, *_, **__):
            self.monitor.epoch()

        def on_step_end(self, *_, **__):
            self.monitor.step()

        def on_log(self, args, state, control, logs=None, **_):
            if logs and self.monitor:
                if "train_runtime" in logs:  # the last ones of a training
                    self.monitor.close()
                for figures in [logs] + state.log_history[-1:]:
                    figures.update(self.monitor.metrics)
    return SeepCallback


__getattr__ = when_asked(__name__, "SeepCallback", define)
