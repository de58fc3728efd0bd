"""Stand-ins for frameworks: each calls what a callback of seep's has, in the order of the real one, and between
that what callbacks must not take for a training: sanity checks, evaluations, accumulated batches. Read against Lightning 2.6,
transformers 5.24, accelerate 1.15, Keras 3.15 and ignite 0.5."""
import os
import textwrap

MODULES = {
    "lightning/__init__.py": "",
    "lightning/pytorch/__init__.py": """
        import logging
        logging.getLogger(__name__).addHandler(logging.StreamHandler())

        class Callback:
            def on_train_start(self, trainer, pl_module): pass
            def on_train_epoch_start(self, trainer, pl_module): pass
            def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx): pass
            def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0): pass
            def on_train_end(self, trainer, pl_module): pass

        class Trainer:
            def __init__(self, callbacks, loggers, accumulate=1):
                self.callbacks, self.loggers, self.accumulate, self.global_step = callbacks, loggers, accumulate, 0

            def call(self, hook, *args):
                for callback in self.callbacks:
                    getattr(callback, hook)(self, None, *args)

            def validate(self):
                for i in range(5):
                    self.call("on_validation_batch_end", None, None, i)

            def fit(self, batches, epochs, work):
                self.validate()  # the sanity check
                self.call("on_train_start")
                for _ in range(epochs):
                    self.call("on_train_epoch_start")
                    for i in range(batches):
                        work()
                        self.global_step += (i + 1) % self.accumulate == 0 or i + 1 == batches
                        self.call("on_train_batch_end", None, None, i)
                    self.validate()
                self.call("on_train_end")
        """,
    "transformers/__init__.py": """
        import types

        class TrainerCallback:
            def on_train_begin(self, args, state, control, **kwargs): pass
            def on_epoch_begin(self, args, state, control, **kwargs): pass
            def on_step_end(self, args, state, control, **kwargs): pass
            def on_substep_end(self, args, state, control, **kwargs): pass
            def on_prediction_step(self, args, state, control, **kwargs): pass
            def on_log(self, args, state, control, logs=None, **kwargs): pass
            def on_train_end(self, args, state, control, **kwargs): pass

        class Trainer:
            def __init__(self, callbacks, accumulate=1):
                self.callback_handler = types.SimpleNamespace(callbacks=list(callbacks))
                self.state, self.accumulate = types.SimpleNamespace(global_step=0, log_history=[]), accumulate

            def call(self, event, **kwargs):
                for callback in self.callback_handler.callbacks:
                    getattr(callback, event)(None, self.state, None, model=None, **kwargs)

            def log(self, logs):
                self.state.log_history.append(dict(logs, step=self.state.global_step))
                self.call("on_log", logs=logs)

            def evaluate(self):
                for _ in range(5):
                    self.call("on_prediction_step")
                self.log({"eval_loss": 1.0})

            def train(self, batches, epochs, work):
                self.evaluate()
                self.call("on_train_begin")
                for _ in range(epochs):
                    self.call("on_epoch_begin")
                    for i in range(batches):
                        work()
                        if (i + 1) % self.accumulate == 0 or i + 1 == batches:
                            self.state.global_step += 1
                            self.call("on_step_end")
                            if self.state.global_step % 10 == 0:
                                self.log({"loss": 1.0})
                        else:
                            self.call("on_substep_end")
                    self.evaluate()
                self.log({"train_runtime": 1.0, "train_loss": 1.0})
                self.call("on_train_end")
        """,
    "transformers/utils/__init__.py": "",
    "transformers/utils/logging.py": """
        import logging

        def get_logger(name):
            return logging.getLogger(name)
        """,
    "accelerate/__init__.py": """
        import contextlib

        class Accelerator:
            def __init__(self, accumulate=1):
                self.accumulate_, self.sync_gradients, self.i, self.logged = accumulate, True, 0, []

            @contextlib.contextmanager
            def accumulate(self, last=False):
                self.i += 1
                self.sync_gradients = last or self.i % self.accumulate_ == 0
                self.i = 0 if last else self.i
                yield

            def log(self, values, step=None):
                self.logged.append((step, values))
        """,
    "accelerate/logging.py": """
        import logging

        class Adapter(logging.LoggerAdapter):
            def process(self, message, kwargs):
                assert kwargs.pop("main_process_only") is False
                return message, kwargs

        def get_logger(name):
            return Adapter(logging.getLogger(name), {})
        """,
    "keras/__init__.py": """
        from keras import callbacks

        class Model:
            def fit(self, given, batches, epochs, work, at_once=1):
                history = callbacks.History()
                all_ = list(given) + [history]
                def call(hook, *args):
                    for callback in all_:
                        getattr(callback, hook)(*args)
                for callback in all_:
                    callback.set_params({"epochs": epochs, "steps": batches, "verbose": 0})
                call("on_train_begin", None)
                for epoch in range(epochs):
                    call("on_epoch_begin", epoch, None)
                    for begin in range(0, batches, at_once):
                        for _ in range(min(at_once, batches - begin)):
                            work()
                        call("on_train_batch_end", begin + at_once - 1, {"loss": 1.0})
                    for i in range(5):
                        call("on_test_batch_end", i, {"loss": 1.0})
                    call("on_epoch_end", epoch, {"loss": 1.0})
                call("on_train_end", {"loss": 1.0})
                return history
        """,
    "keras/callbacks.py": """
        class Callback:
            params = None  # a loop of the job's own sets none
            def set_params(self, params): self.params = params
            def on_train_begin(self, logs=None): pass
            def on_epoch_begin(self, epoch, logs=None): pass
            def on_train_batch_end(self, batch, logs=None): pass
            def on_test_batch_end(self, batch, logs=None): pass
            def on_epoch_end(self, epoch, logs=None): pass
            def on_train_end(self, logs=None): pass

        class History(Callback):
            def __init__(self):
                self.history = []

            def on_epoch_end(self, epoch, logs=None):
                self.history.append(dict(logs))
        """,
    "ignite/__init__.py": "",
    "ignite/engine.py": """
        import enum, logging, types

        Events = enum.Enum("Events", "STARTED EPOCH_STARTED ITERATION_STARTED ITERATION_COMPLETED EPOCH_COMPLETED "
                                     "COMPLETED")

        class Engine:
            def __init__(self, work):
                self.work, self.handlers, self.logger = work, [], logging.getLogger("ignite.engine.engine.Engine")
                self.state = types.SimpleNamespace(iteration=0, epoch=0, metrics={})

            def add_event_handler(self, event, handler):
                self.handlers.append((event, handler))

            def fire(self, event):
                for its, handler in self.handlers:
                    if its is event:
                        handler(self)

            def run(self, batches, max_epochs):
                self.fire(Events.STARTED)
                for _ in range(max_epochs):
                    self.state.epoch += 1
                    self.fire(Events.EPOCH_STARTED)
                    for _ in range(batches):
                        self.state.iteration += 1
                        self.fire(Events.ITERATION_STARTED)
                        self.work()
                        self.fire(Events.ITERATION_COMPLETED)
                    self.fire(Events.EPOCH_COMPLETED)
                self.fire(Events.COMPLETED)
                return self.state
        """,
}


def write_to(folder):
    for name, text in MODULES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(textwrap.dedent(text).lstrip("\n"))
