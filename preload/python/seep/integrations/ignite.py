"""SeepHandler().attach(trainer), of an Engine that trains.

A step is an iteration of the engine; with gradients accumulated over several, tell how many:
SeepHandler(accumulation_steps=4). The figures are in engine.state.metrics, where loggers find them."""
import seep


class SeepHandler:
    def __init__(self, every=30.0, accumulation_steps=1):
        self.every, self.accumulation_steps = every, accumulation_steps

    def attach(self, engine):
        from ignite.engine import Events
        engine.add_event_handler(Events.STARTED, self.start)
        engine.add_event_handler(Events.EPOCH_STARTED, self.epoch)
        engine.add_event_handler(Events.ITERATION_COMPLETED, self.step)
        engine.add_event_handler(Events.EPOCH_COMPLETED, self.show)
        engine.add_event_handler(Events.COMPLETED, self.end)
        return self

    def start(self, engine):
        self.monitor = seep.monitor(self.every, engine.logger.warning)

    def epoch(self, engine):
        self.monitor.epoch()

    def step(self, engine):
        if engine.state.iteration % self.accumulation_steps == 0 and self.monitor.step():
            self.show(engine)

    def end(self, engine):
        self.monitor.close()
        self.show(engine)

    def show(self, engine):
        engine.state.metrics.update(self.monitor.metrics)
