"""seep.integrations: each framework's callback tells seep steps and epochs to the number, and the framework's log and
loggers the growth. The frameworks are stand-ins; `make check-integrations` does the same with the real ones."""
import glob
import json
import os
import textwrap
import unittest

from tests.e2e.support import NO_LOOKS, ROOT, SEEP, SYSTEM_PYTHON, SeepCase, job_env, marked_line
from tests.integrations import stand_ins

PACKAGE = os.path.join(os.path.dirname(SEEP), "python")
NAMES = ("lightning", "transformers", "accelerate", "keras", "ignite")
HEAD = """
    import json, sys
    kept = []

    def work():
        kept.append(bytearray(50000))  # LEAK

    def said(figures, **more):
        print(json.dumps(dict(more, figures={k: v for k, v in figures.items() if k.startswith("seep/")})))

"""


class CallbackCase(SeepCase):
    def train(self, body):
        with open(self.path("train.py"), "w") as f:
            f.write(textwrap.dedent(HEAD) + textwrap.dedent(body).lstrip("\n"))
        stand_ins.write_to(self.dir)
        profile = self.run_seep([SYSTEM_PYTHON, "train.py"], options=NO_LOOKS, cwd=self.dir, timeout=180)
        self.said = [json.loads(line) for line in profile.done.stdout.decode().splitlines()]
        self.lines = [line for line in profile.done.err.splitlines() if "seep: " in line]
        self.job = profile.written["job"]

    def told(self, steps, epochs, bytes_a_step, figures=None):
        self.assertEqual((self.job["step_source"], self.job["steps"], self.job["epochs"]), ("api", steps, epochs))
        self.assertEqual(len(self.lines), 1, self.lines)
        self.assertRegex(self.lines[0], r"seep: host memory grows by [.\d]+ KiB a step without an end: "
                                        r"train\.py:%d in work " % marked_line(self.path("train.py"), "LEAK"))
        figures = figures or self.said[-1]["figures"]
        self.assertAlmostEqual(figures["seep/host_growth_bytes_per_step"], bytes_a_step, delta=bytes_a_step * 0.1)
        self.assertGreater(figures["seep/host_live_bytes"], 50000 * 100)


class Lightning(CallbackCase):
    BODY = """
        from lightning.pytorch import Trainer
        from seep.integrations.lightning import SeepCallback

        class Logger:
            figures, steps = {}, []
            def log_metrics(self, metrics, step=None):
                self.figures.update(metrics)
                self.steps.append(step)

        trainer = Trainer([SeepCallback()], [Logger()], accumulate=%d)
        trainer.fit(%d, 4, work)
        said(Logger.figures, steps=Logger.steps)
        """

    def test_each_batch_is_a_step(self):
        self.train(self.BODY % (1, 50))
        self.told(200, 4, 50000)
        self.assertEqual(self.said[0]["steps"][-1], 200)

    def test_accumulated_batches_are_one_step(self):
        self.train(self.BODY % (3, 50))  # 16 of three batches and one of two
        self.told(4 * 17, 4, 150000)

    def test_the_one_that_is_in_use_is_taken(self):
        os.makedirs(self.path("pytorch_lightning"))
        with open(self.path("pytorch_lightning/__init__.py"), "w") as f:
            f.write("class Callback: pass\n")
        self.train("""
            import pytorch_lightning
            from seep.integrations.lightning import SeepCallback
            print(json.dumps([issubclass(SeepCallback, pytorch_lightning.Callback), "lightning" in sys.modules]))
            """)
        self.assertEqual(self.said, [[True, False]])


class Transformers(CallbackCase):
    BODY = """
        from transformers import Trainer, TrainerCallback
        from seep.integrations.transformers import SeepCallback

        class Reports(TrainerCallback):
            figures = {}
            def on_log(self, args, state, control, logs=None, **_):
                self.figures.update(logs)

        trainer = Trainer(callbacks=[Reports()], accumulate=%d)
        SeepCallback.attach(trainer)
        trainer.train(50, 4, work)
        said(Reports.figures)
        said(trainer.state.log_history[-1])
        """

    def test_the_callbacks_that_report_are_given_the_figures(self):
        self.train(self.BODY % 1)
        for said in self.said:
            self.told(200, 4, 50000, said["figures"])

    def test_accumulated_batches_are_one_step(self):
        self.train(self.BODY % 3)
        self.told(4 * 17, 4, 150000)

    def test_given_as_any_callback_it_fills_the_history(self):
        self.train("""
            from transformers import Trainer
            from seep.integrations.transformers import SeepCallback
            trainer = Trainer(callbacks=[SeepCallback()])
            trainer.train(50, 4, work)
            said(trainer.state.log_history[-1])
            """)
        self.told(200, 4, 50000)


class Accelerate(CallbackCase):
    def test_steps_are_those_that_synchronize_gradients(self):
        self.train("""
            from accelerate import Accelerator
            from seep.integrations.accelerate import SeepMonitor
            accelerator = Accelerator(accumulate=3)
            with SeepMonitor(accelerator) as monitor:
                for _ in range(4):
                    monitor.epoch()
                    for i in range(50):
                        with accelerator.accumulate(last=i == 49):
                            work()
                        monitor.step()
            step, figures = accelerator.logged[-1]
            said(figures, step=step)
            """)
        self.told(4 * 17, 4, 150000)
        self.assertEqual(self.said[0]["step"], 4 * 17)


class Keras(CallbackCase):
    BODY = """
        import keras
        from seep.integrations.keras import SeepCallback
        history = keras.Model().fit([SeepCallback()], 50, 4, work, at_once=%d)
        said(history.history[-1])
        """

    def test_each_batch_is_a_step(self):
        self.train(self.BODY % 1)
        self.told(200, 4, 50000)

    def test_several_batches_at_once_are_as_many_steps(self):
        self.train(self.BODY % 4)  # the last of an epoch are two
        self.assertEqual((self.job["steps"], self.job["epochs"]), (200, 4))

    def test_a_loop_of_the_job_s_own_need_not_say_its_length(self):
        self.train("""
            import keras
            from seep.integrations.keras import SeepCallback
            callback = SeepCallback()
            callback.on_train_begin()
            for epoch in range(4):
                callback.on_epoch_begin(epoch)
                for batch in range(50):
                    work()
                    callback.on_train_batch_end(batch)
                callback.on_epoch_end(epoch)
            callback.on_train_end()
            said(callback.monitor.metrics)
            """)
        self.told(200, 4, 50000)


class Ignite(CallbackCase):
    BODY = """
        from ignite.engine import Engine
        from seep.integrations.ignite import SeepHandler
        trainer = Engine(work)
        SeepHandler(accumulation_steps=%d).attach(trainer)
        said(trainer.run(48, max_epochs=4).metrics)
        """

    def test_each_iteration_is_a_step(self):
        self.train(self.BODY % 1)
        self.told(192, 4, 50000)

    def test_accumulated_iterations_are_one_step(self):
        self.train(self.BODY % 3)
        self.told(64, 4, 150000)


class Importing(SeepCase):
    def alone(self, text):
        done = self.command([SYSTEM_PYTHON, "-S", "-c", textwrap.dedent(text)],
                            env=job_env(PYTHONPATH=PACKAGE), cwd=self.dir)
        self.assertEqual(done.status, 0, repr(done))
        return done.stdout.decode().strip()

    def test_no_framework_is_imported_before_its_class_is_asked_for(self):
        stand_ins.write_to(self.dir)
        self.assertEqual(self.alone("""
            import importlib, sys
            sys.path.insert(0, "")
            for name in %r:
                module = importlib.import_module("seep.integrations." + name)
                assert not hasattr(module, "nothing_of_that_name")
            print(sorted(set(sys.modules) & set(%r)))
            """ % (NAMES, NAMES)), "[]")

    def test_a_class_can_be_pickled_as_ranks_that_are_spawned_need_it(self):
        stand_ins.write_to(self.dir)
        self.assertEqual(self.alone("""
            import pickle, sys
            sys.path.insert(0, "")
            from seep.integrations import keras, lightning, transformers
            for module in (keras, lightning, transformers):
                callback = pickle.loads(pickle.dumps(module.SeepCallback(every=7)))
                assert type(callback) is module.SeepCallback and callback.every == 7
            print("ok")
            """), "ok")

    def test_without_seep_the_callbacks_do_nothing(self):
        stand_ins.write_to(self.dir)
        self.assertEqual(self.alone("""
            import sys
            sys.path.insert(0, "")
            from lightning.pytorch import Trainer
            from seep.integrations.lightning import SeepCallback
            Trainer([SeepCallback()], [None]).fit(50, 2, lambda: None)
            print("ok")
            """), "ok")

    def test_each_has_fewer_than_forty_lines(self):
        paths = glob.glob(str(ROOT / "preload/python/seep/integrations/*.py"))
        self.assertEqual(len(paths), len(NAMES) + 1)
        for path in paths:
            with open(path) as f:
                self.assertLess(len(f.readlines()), 40, path)


if __name__ == "__main__":
    unittest.main()
