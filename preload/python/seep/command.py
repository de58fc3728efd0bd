"""The command seep: where it is, and what one says beside the job, itself not recorded."""
import os
import shutil
import subprocess
import sys


def find_seep():
    """The command: of the build, of the installation that this package belongs to, of the interpreter's, on PATH."""
    here = os.path.dirname(os.path.realpath(__file__))
    for path in (os.path.join(here, "../../seep"), os.path.join(here, "../../../../bin/seep"),
                 os.path.join(here, "../bin/seep"), os.path.join(os.path.dirname(sys.executable), "seep")):
        path = os.path.normpath(path)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path = shutil.which("seep")
    if not path:
        raise FileNotFoundError("the command seep was not found, neither beside %s nor on PATH: install seep, or add "
                                "its folder to PATH" % here)
    return path


def unrecorded():
    """The environment of a command that is not to be recorded, though the job is."""
    return dict(os.environ, SEEP_WAIT="1")


def output_of(*command):
    """Of a command that is not to be recorded."""
    return subprocess.run(command, env=unrecorded(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True, universal_newlines=True, errors="replace").stdout
