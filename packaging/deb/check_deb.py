"""check_deb.py DEB: unpacks the package into a folder, and uses it there as if that were the root."""
import glob
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"
JOB = """
import seep
kept = []
for _ in range(300):
    kept.append(bytearray(20480))
    seep.step()
print("recorded" if seep.active() else "alone")
"""
TEST = """
import pytest
kept = []
@pytest.mark.seep_growth("4KiB")
def test_leaks():
    kept.append(bytearray(50000))
"""


def output_of(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, **options)
    if done.returncode != status:
        sys.exit("deb-check: %s: exit %d\n%s" % (" ".join(map(str, command)), done.returncode, done.stdout))
    return done.stdout


def expect(condition, what):
    if not condition:
        sys.exit("deb-check: " + what)
    print("ok    " + what.partition("\n")[0].rstrip(":"))


def check_files(usr):
    page = gzip.decompress((usr / "share/man/man1/seep-run.1.gz").read_bytes()).decode()
    expect(".SH OPTIONS" in page, "the manual page of seep run")
    completion = ". %s; COMP_WORDS=(seep ver); COMP_CWORD=1; _seep; echo ${COMPREPLY[*]}" % (
        usr / "share/bash-completion/completions/seep")
    said = output_of("bash", "-c", completion)
    expect("verify" in said, "bash completion of `seep ver`: " + said)
    module = usr / "lib/seep/python/seep"
    expect(module.is_symlink() and (module / "pytest_plugin.py").exists(), "the module in lib/seep/python")


def check_run(usr, scratch):
    (scratch / "train.py").write_text(JOB)
    said = output_of(usr / "bin/seep", "run", "-o", scratch / "run.d", "--", PYTHON, scratch / "train.py")
    expect("recorded" in said, "seep run, and `import seep` in the job:\n" + said)
    said = output_of(usr / "bin/seep", "report", scratch / "run.d")
    expect("unbounded-growth" in said and "train.py:5" in said, "seep report finds the line:\n" + said)


def check_python(usr, scratch):
    env = dict(os.environ, PYTHONPATH=str(usr / "lib/python3/dist-packages"), PYTHONDONTWRITEBYTECODE="1")
    said = output_of(PYTHON, "-c", JOB, env=env)
    expect("alone" in said, "`import seep` without seep:\n" + said)
    (scratch / "test_growth.py").write_text(TEST)
    try:
        import pytest  # noqa: F401
    except ImportError:
        print("skip  the plugin: python3-pytest is not installed")
        return
    said = output_of(PYTHON, "-m", "pytest", scratch / "test_growth.py", status=1, env=env, cwd=scratch)
    expect("most of it: test_growth.py:6 in test_leaks" in said, "pytest with the plugin, by its entry point:\n" + said)


def main():
    for name in [name for name in os.environ if name.startswith(("PYTHON", "SEEP", "LD_PRELOAD"))]:
        del os.environ[name]
    (deb,) = glob.glob(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        output_of("dpkg-deb", "-x", deb, scratch / "root")
        usr = scratch / "root/usr"
        print(output_of(usr / "bin/seep", "--version"), end="")
        check_files(usr)
        check_run(usr, scratch)
        check_python(usr, scratch)


if __name__ == "__main__":
    main()
