"""model.fit(…, callbacks=[SeepCallback()]), of Keras 3, or of tf_keras, whichever is in use.

A step is a batch of the training as Keras counts it: with steps_per_execution, so many are told at once. The figures
are in the logs of an epoch, so callbacks after this one and History have them."""
import seep
from seep.integrations import in_use, when_asked


def define():
    keras = in_use("keras", "tf_keras")

    class SeepCallback(keras.callbacks.Callback):
        def __init__(self, every=30.0):
            super().__init__()
            self.every = every

        def on_train_begin(self, logs=None):
            self.monitor = seep.monitor(self.every)

        def on_epoch_begin(self, epoch, logs=None):
            self.batch = -1
            self.monitor.epoch()

        def on_train_batch_end(self, batch, logs=None):
            for self.batch in range(self.batch + 1, min(batch + 1, (self.params or {}).get("steps") or batch + 1)):
                self.monitor.step()

        def on_epoch_end(self, epoch, logs=None):
            if epoch + 1 == (self.params or {}).get("epochs"):
                self.monitor.close()
            if logs is not None:
                logs.update(self.monitor.metrics)

        def on_train_end(self, logs=None):
            self.monitor.close()
    return SeepCallback


__getattr__ = when_asked(__name__, "SeepCallback", define)
