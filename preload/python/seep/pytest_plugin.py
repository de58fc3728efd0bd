"""Memory limits for tests, and a whole test session recorded by seep. See docs/ci.md.

    @pytest.mark.seep_growth("4KiB")     # the test's body, repeated, may keep so much more each time
    @pytest.mark.seep_peak("2GiB")       # the test's process may never hold more
    pytest --seep                        # one recording of the whole session, summed up at its end

What needs more than an import of os, sys and pytest lies in other files, which are imported where they are needed.

PYTEST_DONT_REWRITE"""
import os
import sys

import pytest

ORDER, SESSION = "SEEP_PYTEST_CHILD", "SEEP_PYTEST_SESSION"
STEPS = 60


def stay_as_installed():
    """pytest rewrites modules of plugins, and keeps the result beside them. Here there is nothing to rewrite, and pip
    would leave such files when it uninstalls."""
    for finder in sys.meta_path:
        marked = getattr(finder, "_must_rewrite", None)
        if isinstance(marked, set):
            marked -= {"seep", __name__}
    for folder in sys.path:
        compiled = os.path.join(folder, "seep", "__pycache__")
        try:
            for name in os.listdir(compiled):
                if "-pytest-" in name:
                    os.remove(os.path.join(compiled, name))
        except OSError:
            pass


stay_as_installed()


def pytest_addoption(parser):
    group = parser.getgroup("seep", "memory, by seep")
    group.addoption("--seep", action="store_true",
                    help="record the whole session, and show at its end what its tests kept and which lines leak")
    group.addoption("--seep-growth", metavar="SIZE",
                    help="repeat every test that has no seep_growth mark, too, and let it grow by SIZE a step")
    group.addoption("--seep-peak", metavar="SIZE", help="the limit for every test that has no seep_peak mark")
    group.addoption("--seep-steps", metavar="N", type=int, default=STEPS,
                    help="how often to repeat a test whose mark does not say so (%d)" % STEPS)
    group.addoption("--seep-dir", metavar="DIR", help="where the profiles go (.seep in the root folder)")


def pytest_configure(config):
    config.addinivalue_line("markers", "seep_growth(size, steps=%d, space='host'): fail the test if its body, repeated "
                                       "steps times in a process of its own, keeps more than size each time" % STEPS)
    config.addinivalue_line("markers", "seep_peak(size, space='host'): fail the test if its process, which runs "
                                       "nothing else, ever holds more than size")
    worker = getattr(config, "workerinput", {})
    folder = os.environ.pop(SESSION, None) or worker.get("seep_session")
    if folder and not config.pluginmanager.hasplugin("seep-child"):
        from seep import pytest_session

        config.pluginmanager.register(pytest_session.Session(folder, str(config.rootpath)), "seep-session")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    if ORDER in os.environ:
        from seep import pytest_child

        config.pluginmanager.register(pytest_child.Child(config, os.environ.pop(ORDER)), "seep-child")
    elif config.getoption("seep") and SESSION not in os.environ and not shows_only(config):
        from seep import pytest_session

        return pytest_session.record(config)
    return None


def shows_only(config):
    """Whether pytest is to run no test: --collect-only, --fixtures, --help …"""
    names = ("collectonly", "showfixtures", "show_fixtures_per_test", "markers", "help", "version", "cacheshow",
             "setupplan")
    return any(getattr(config.option, name, None) for name in names)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """xdist: what its workers cannot know of the command."""
    node.workerinput["seep_args"] = [str(a) for a in node.config.invocation_params.args]
    session = node.config.pluginmanager.getplugin("seep-session")
    node.workerinput["seep_session"] = session.folder if session else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    if not is_limited(item):
        return None
    from seep import pytest_limits

    return pytest_limits.run_test(item, nextitem)


def is_limited(item):
    """False: the test runs as without seep. In a debugger it does, too."""
    option = item.config.getoption
    if not (option("seep_growth") or option("seep_peak") or item.get_closest_marker("seep_growth")
            or item.get_closest_marker("seep_peak")):
        return False
    return (isinstance(item, pytest.Function) and not item.config.pluginmanager.hasplugin("seep-child")
            and not option("usepdb") and not option("trace"))
