"""What the wheel is made of. The command is the program itself, not a script of Python that starts it, and finds its
library in ../lib64/seep: in a venv, which has lib64 for lib, and below --user, --prefix and --target. With --target,
pip installs nothing of lib but the modules."""
import os
import pathlib
import subprocess

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SeepWheel(BuildHookInterface):
    def initialize(self, version, build_data):
        root = pathlib.Path(self.root)
        built, tag = self.portable() or self.plain(root)
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + tag
        build_data["shared_scripts"][str(built / "seep")] = "seep"
        # Neither manual pages nor completion: pip leaves the folders above them when it uninstalls. `seep help` has the
        # same pages.
        data = {built / "libseep.so": "lib64/seep/libseep.so", root / "preload/seep.h": "include/seep.h"}
        for name, path in modules_of(root / "preload/python"):
            build_data["force_include"][str(path)] = name
            # `seep run` gives jobs this folder, which also serves Pythons without the wheel.
            data[path] = "lib64/seep/python/" + name
        build_data["shared_data"].update({str(path): name for path, name in data.items()})

    @staticmethod
    def portable():
        """What `make wheel` has built."""
        built = os.environ.get("SEEP_WHEEL_PARTS")
        return built and (pathlib.Path(built).resolve(), "manylinux_2_28_" + os.environ["SEEP_WHEEL_MACHINE"])

    @staticmethod
    def plain(root):
        """What `make` builds with this machine's compiler and libraries; it runs here only."""
        subprocess.run(["make", "-j%d" % (os.cpu_count() or 1), "MPI=0", "ONE_PROGRAM=1",
                        "BUILD=build/pip", "all"], cwd=root, check=True)
        return root / "build/pip", "linux_" + os.uname().machine


def modules_of(folder):
    """(name in the wheel, path) of each file of Python: modules, and packages with all that is in them."""
    paths = [*folder.glob("*.py")]
    for package in folder.glob("*/__init__.py"):
        paths += package.parent.rglob("*.py")
    return [(str(path.relative_to(folder)), path) for path in sorted(paths)]
