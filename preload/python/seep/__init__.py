"""Telling seep, the memory profiler, where training steps and epochs end, and when to look who holds what.

    import seep

    for batch in loader:
        train(batch)
        seep.step()

Without seep in the process the functions do nothing, so the calls may stay in the job. Growth is then
reported per step as counted by step(), which takes precedence over steps that seep finds by itself.
monitor() also says, while the job runs, when its memory grows without an end; seep.integrations does so
for training frameworks, and %load_ext seep has `%seep look` for notebooks.
Nothing here raises. Any thread may call; steps are counted per process. CPython 3.8 and later."""

__all__ = ["step", "epoch", "holders", "active", "monitor"]


def _nothing():
    pass


def _find(name):
    try:
        import ctypes

        # PyDLL: the calls take less than releasing the GIL would.
        function = getattr(ctypes.PyDLL(None), name)
        function.argtypes = []
        function.restype = None
        return function
    except Exception:
        return None


def _yield_to_namesake():
    """`seep run` puts the folder that has this one on the path; a module of this name that the job has
    anyway is what it gets, as without seep. A second copy of this package, as pip installs one, does not
    yield back, but on."""
    before = globals().pop("_in_place_of_another", [])
    try:
        import importlib.machinery
        import importlib.util
        import os
        import sys

        copies = before + [os.path.dirname(os.path.realpath(__file__))]
        path = [p for p in sys.path if os.path.realpath(os.path.join(p, __name__)) not in copies]
        spec = importlib.machinery.PathFinder.find_spec(__name__, path)
        if spec is None or spec.loader is None:
            return
        module = importlib.util.module_from_spec(spec)
        module._in_place_of_another = copies
    except Exception:
        return
    sys.modules[__name__] = module
    spec.loader.exec_module(module)
    module.__dict__.pop("_in_place_of_another", None)


_step = _find("seep_step")
_epoch = _find("seep_epoch")
_holders = _find("seep_holders")
_yield_to_namesake()


def step():
    """The training step that this process was in has ended."""
    (_step or _nothing)()


def epoch():
    """The epoch that this process was in has ended; or, as good, one begins: before the first step, and
    where another one is over."""
    (_epoch or _nothing)()


def holders():
    """Who holds the memory that is live now is to be looked for; the report has what was found."""
    (_holders or _nothing)()


def active():
    """True where seep records this process."""
    return _step is not None


def monitor(every=30.0, log=None, writer=None):
    """For a loop without a framework:

        with seep.monitor() as m:
            for batch in loader:
                train(batch)
                m.step()

    When memory grows without an end, one line says so with the line of code, by log(text), else by the logger
    "seep"; m.metrics has the latest figures. They are looked up every so many seconds, and written to TensorBoard
    where a folder or a SummaryWriter is given: writer="runs/train". Without seep in the process it says so once, and
    watches nothing."""
    from seep import growth_monitor

    if not active():
        growth_monitor.say_unwatched(log)
    return growth_monitor.Monitor(every, log, writer)


def load_ipython_extension(shell):
    """%load_ext seep"""
    from seep import notebook

    notebook.register(shell)
