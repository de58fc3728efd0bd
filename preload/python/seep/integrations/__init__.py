"""Steps and epochs of training frameworks told to seep, and growth without an end told in the framework's own log and
loggers. See docs/monitoring.md. No framework is imported before its class is asked for."""
import importlib
import sys


def when_asked(module, name, define):
    """A module's __getattr__ (PEP 562) that defines its class when somebody asks for it. The class can be pickled."""
    def __getattr__(asked):
        if asked != name:
            raise AttributeError("module %r has no attribute %r" % (module, asked))
        made = define()
        made.__module__, made.__qualname__ = module, name
        return vars(sys.modules[module]).setdefault(name, made)
    return __getattr__


def in_use(*names):
    """Of a framework that has several: the one that the job has imported, else the first that is installed."""
    for name in names:
        if name in sys.modules:
            return sys.modules[name]
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            pass
    return importlib.import_module(names[-1])
