"""The table of ways to keep something (holder_cases), and the libraries that some of them need."""
import sys

from tests.e2e import support

CASES = support.ROOT / "tests/e2e/holder_cases"


def load():
    """The table, without a word to seep."""
    sys.modules.setdefault("seep", type(sys)("seep"))
    if str(CASES) not in sys.path:
        sys.path.insert(0, str(CASES))
    import case
    import run  # noqa: F401
    return case


def compile_libraries(test, folder):
    support.compile_c(test, CASES / "libkeeps.c", folder + "/libkeeps.so", "-shared", "-fPIC")
    support.compile_c(test, CASES / "libkeepsxx.cc", folder + "/libkeepsxx.so", "-shared", "-fPIC", "-lstdc++")


def environment(folder):
    return support.job_env(SEEP_CASE_LIBRARIES=folder, PYTHONIOENCODING="utf-8")
