"""dist_info.py FOLDER: writes what Python's tools look for beside the package in FOLDER: its name, its version, and the
entry point by which pytest finds the plugin. From pyproject.toml, in the folder it is run in."""
import pathlib
import re
import sys
import tomllib

project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
version = re.search(project["tool"]["hatch"]["version"]["pattern"], pathlib.Path("Makefile").read_text())["version"]
project = project["project"]
folder = pathlib.Path(sys.argv[1]) / ("%s-%s.dist-info" % (project["name"].replace("-", "_"), version))
folder.mkdir()
(folder / "METADATA").write_text("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nRequires-Python: %s\n" % (
    project["name"], version, project["description"], project["requires-python"]))
with open(folder / "entry_points.txt", "w") as f:
    for group, rows in project["entry-points"].items():
        f.write("[%s]\n%s\n" % (group, "".join("%s = %s\n" % row for row in rows.items())))
