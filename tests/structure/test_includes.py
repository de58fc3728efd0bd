"""Includes run downhill: every room may include those that the table names, and modules include each other in no
circle. docs/architecture.md says what the rooms are for."""
import os
import re
import unittest

from tests.structure.sources import C_SOURCES, files_below, includes

# Contracts that debug and sanitized builds check: any file may.
CONTRACT = "libprof/contract.h"

# What a room's files may include besides each other. A word that names neither half is a room of libprof; "analysis" is what
# lies in libprof/ itself, "top" what lies in preload/ itself. A room only includes rooms above it in this table.
EVERY_ROOM_ABOVE = "every room"
ALLOWED = {
    "libprof/words": "",
    "libprof/words/findings": "",
    "libprof/thresholds": "",
    "libprof/arch": "",
    "libprof/base": "arch",
    "libprof/format": "",
    "libprof/runtime/regex": "",
    "libprof/source": "base",
    "libprof/runtime/store": "arch format",
    "libprof/runtime/program": "arch runtime/store format",
    "libprof/program": "runtime/program format",
    "libprof/read": "format base",
    "libprof/torch": "format base words",
    "libprof/pprof": "torch format base",
    "libprof/foreign": "torch pprof base",
    "libprof/who/graph": "arch format base",
    "libprof/who/survey": "who/graph format base",
    "libprof/who/ways": "arch who/survey who/graph thresholds base words",
    "libprof/model": "read format base words",
    "libprof/model/stages": "model foreign torch read thresholds format base words",
    "libprof/code": "model base words",
    "libprof/code/packages": "code model base words",
    "libprof/who/retained": "who/ways who/survey who/graph base",
    "libprof/who/blocks": "who/graph format base",
    "libprof/who/process": "arch who/graph base",
    "libprof/who/find": "arch code who/retained who/blocks who/ways who/survey who/process who/graph model read thresholds format base words",
    "libprof/look": "arch code who/find who/retained who/blocks who/ways who/survey who/process who/graph format base words",
    "libprof/measure": "code model thresholds base words/findings words",
    "libprof/measure/resident": "measure model thresholds base words",
    "libprof/report_read": "base words",
    "libprof/who/merge": "report_read measure code model thresholds base words/findings words",
    "libprof/who/kept": "who/merge report_read source measure code model thresholds base words/findings words",
    "libprof/verdict": "who/merge measure/resident measure code/packages code model thresholds base words/findings words",
    "libprof/report": "report_read verdict who/kept who/merge source measure/resident measure code/packages code model program runtime/program thresholds format base words/findings words",
    "libprof/digest": "report_read base words/findings words",
    "libprof/digest/fill": "digest report_read verdict measure code model base words",
    "libprof/gate": "report_read base words",
    "libprof/page": "report_read base words",
    "libprof/print": "gate report_read base words",
    "libprof/export": "report_read base words",
    "libprof/analysis": EVERY_ROOM_ABOVE,
    "preload/objects": "runtime/store format",
    "preload/python": "arch preload/objects runtime/store format",
    "preload/stack": "arch preload/objects preload/python runtime/store format",
    "preload/steps": "preload/python format",
    "preload/job": "runtime/store format",
    "preload/cost": "runtime/store format",
    "preload/pages": "runtime/store format",
    "preload/record": "arch preload/pages preload/objects preload/python preload/stack preload/job preload/steps preload/cost runtime/store format",
    "preload/device": "preload/objects preload/python preload/stack preload/job preload/record runtime/store format",
    "preload/life": "arch preload/objects preload/python preload/stack preload/job preload/cost preload/record preload/device runtime/store runtime/program runtime/regex format",
    "preload/snapshot": "arch preload/objects preload/python preload/stack preload/job preload/cost preload/record preload/life runtime/store runtime/program format",
    "preload/cuda": "preload/objects preload/python preload/stack preload/job preload/record preload/device preload/life runtime/store runtime/regex format",
    "preload/hooks": "arch preload/objects preload/python preload/stack preload/job preload/pages preload/record preload/device preload/life"
                     " preload/snapshot runtime/store runtime/program format",
    "preload/top": "preload/objects preload/python preload/stack preload/record preload/device preload/life"
                   " preload/snapshot preload/hooks runtime/store format",
    "viewer": "arch analysis foreign digest look who/find who/process export print page gate report_read program runtime/program read runtime/regex format base words libprof/code/part_rules.h",
    "kernels": "arch report_read base preload/seep.h",
}

_ABOVE = list(ALLOWED)[:list(ALLOWED).index("libprof/analysis")]
ALLOWED["libprof/analysis"] = " ".join(room.removeprefix("libprof/") for room in _ABOVE)

ITSELF = {"libprof": "analysis", "preload": "top"}


def room_of(file):
    parts = file.split("/")
    if parts[0] not in ITSELF:
        return parts[0]
    return parts[0] + "/" + ("/".join(parts[1:-1]) or ITSELF[parts[0]])


def allowed_in(room):
    return {word if word.startswith(("preload/", "libprof/")) else "libprof/" + word for word in ALLOWED[room].split()}


def module_of(file):
    return os.path.splitext(file)[0]


def may_use(file, other):
    """Whether the table lets a file use what another one has."""
    room, room_used = room_of(file), room_of(other)
    return other == CONTRACT or room == room_used or bool({room_used, module_of(other)} & {module_of(word) for word in allowed_in(room)})


def graph_of_modules():
    graph = {}
    for file, _, included in includes():
        if file.endswith(C_SOURCES):
            graph.setdefault(module_of(file), set()).add(module_of(included))
    return graph


def circles(graph):
    """The strongly connected components of more than one node (Tarjan, 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(" ".join(sorted(stack[at:])))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found)


class Includes(unittest.TestCase):
    def test_a_room_includes_only_what_the_table_names(self):
        wrong = []
        for file, number, included in includes():
            if not may_use(file, included):
                wrong.append("%s:%d includes %s, but files of %s may include only each other and: %s"
                             % (file, number, included, room_of(file), ALLOWED[room_of(file)] or "nothing"))
        self.assertFalse(wrong, "\n" + "\n".join(wrong) + "\nMove the code to the room it belongs to, or argue the "
                         "arrow in docs/architecture.md and add it to ALLOWED in tests/structure/test_includes.py")

    def test_every_file_lies_in_a_room_of_the_table(self):
        homeless = [f for f in files_below("libprof", "preload", endings=C_SOURCES) if room_of(f) not in ALLOWED]
        self.assertFalse(homeless, "in a folder that ALLOWED in tests/structure/test_includes.py lacks")

    def test_the_tables_rooms_run_downhill(self):
        above = set()
        for room in ALLOWED:
            below_it = {word for word in allowed_in(room) if not word.endswith(".h")} - above
            self.assertFalse(below_it, "%s may include what comes after it in ALLOWED" % room)
            above.add(room)

    def test_the_page_has_the_same_table(self):
        """docs/architecture.md has a row for each room of libprof, and for each program."""
        with open("docs/architecture.md", encoding="utf-8") as page:
            rows = re.findall(r"^\| `((?:libprof/[\w/.]+|preload|viewer|kernels))` \| .* \| ([^|]*) \|$", page.read(), re.M)
        wrong = []
        for name, told in rows:
            room = {"preload": "preload/top"}.get(name, name.removesuffix(".c"))
            told = {"nothing": "", "every room": ALLOWED["libprof/analysis"]}.get(told, told.replace(",", " ").replace("`", ""))
            held = allowed_in(room) if name != "preload" else {word for inner in ALLOWED if inner.startswith("preload/")
                                                              for word in allowed_in(inner) if word.startswith("libprof/")}
            if {word if word.startswith(("preload/", "libprof/")) else "libprof/" + word for word in told.split()} != held:
                wrong.append("%s: %s, not %s" % (name, " ".join(sorted(held)), told))
        self.assertEqual(wrong, [], "\n".join(wrong))
        self.assertEqual({name.removesuffix(".c") for name, _ in rows} - {"preload"},
                         {room for room in ALLOWED if not room.startswith("preload/")})

    def test_modules_include_each_other_in_no_circle(self):
        """A module is name.c with name.h."""
        self.assertEqual(circles(graph_of_modules()), [], "these include each other in a circle: move what they share "
                         "to a header that includes neither")

    def test_a_circle_is_found(self):
        graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"f"}, "f": {"e"}, "g": {"a"}}
        self.assertEqual(circles(graph), ["a b c", "e f"])


if __name__ == "__main__":
    unittest.main()
