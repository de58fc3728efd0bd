"""with SeepMonitor(accelerator) as m: … m.step() after each batch, m.epoch() where an epoch begins.

A step is a batch after which accelerator.sync_gradients is true: batches whose gradients are accumulated are one. One
whose optimizer step a gradient scaler skipped is a step, too. The figures go to the accelerator's trackers; end the
block before accelerator.end_training()."""
from seep.growth_monitor import Monitor


class SeepMonitor(Monitor):
    def __init__(self, accelerator, every=30.0):
        super().__init__(every, self.warn)
        self.accelerator, self.steps = accelerator, 0

    def step(self):
        if self.accelerator.sync_gradients:
            self.steps += 1
            return self.show(super().step())
        return None

    def close(self):
        return self.show(super().close())

    def show(self, figures):
        if figures:
            self.accelerator.log(figures, step=self.steps)
        return figures

    @staticmethod
    def warn(text):
        from accelerate.logging import get_logger
        get_logger("seep").warning(text, main_process_only=False)
