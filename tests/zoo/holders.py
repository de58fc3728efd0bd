"""Holds what a report says of who keeps a job's memory against the table of the job.

[leaky.holder] of a table was written from the source, before anything was run: `state`, any of which is right; `named`,
one of which must stand in what is printed (none: nobody's name is); `source`, a piece of the line that proves it. An
empty `state`: nothing is kept from one step to the next, so no answer is owed; an answer must not be wrong. What is
`may_be_missed`: workers that live for a second may have no turn, but what is said of them must be right. What is
held may be called shared with variables of functions that run: while few are kept, those of the step weigh much. A
snapshot may come while the sum of a variable and something new is not stored yet: then both have it, and it is what the
variable shares.

`kept` is the statement that puts it there; "": the source does not say it clearly, so nothing may be
said. A table without it is not asked. What is said must be right, and it is owed where the answer has a path."""
import json
import re

NOBODY = ("lost", "cycle", "reference")


def printed(holders):
    return [p["text"] for p in holders["paths"]] + [(p.get("holder") or {}).get("name") or "" for p in holders["paths"]]


def brief(holders):
    if not holders:
        return "no answer"
    return ": ".join([holders["state"]] + [" | ".join(p["text"] for p in holders["paths"])] * bool(holders["paths"]))


def share(holders):
    """How much of what is live goes with the holders that are named; None where nobody is."""
    freed = [p["sole_bytes"] for p in holders["paths"] if p.get("sole_bytes") is not None]
    return freed[-1] / holders["bytes"] if freed and holders["bytes"] else None


def is_state(holders, states):
    others = [p for p in holders["paths"] if p["root"]["kind"] != "local"]
    return holders["state"] in states or (holders["state"] == "shared" and "held" in states and len(others) <= 1)


def is_named(text, name):
    """A local variable is called so where it holds alone, and in short where it shares."""
    shared = re.sub(r"^local '(\w+)' of (\w+)\(\)$", r"what \2.\1 shares with other objects", name)
    return name in text or (shared != name and shared in text)


def right(holders, truth):
    """Whether the answer (None: there is none) is what the table says."""
    if truth.get("may_be_missed") and (not holders or holders["state"] == "unknown"):
        return True
    if not truth["state"]:
        return not holders or holders["state"] not in NOBODY
    if not holders or not is_state(holders, truth["state"]):
        return False
    return not truth.get("named") or any(is_named(text, name) for name in truth["named"] for text in printed(holders))


def kept(finding, truth):
    """Whether what is said of the statement that keeps it is what the table says."""
    if "kept" not in truth:
        return True
    said = [k["text"] for k in finding.get("kept_at") or []]
    if not said:
        return not truth["kept"] or not (finding.get("holders") or {}).get("paths")
    return said == [truth["kept"]]


def row(name, script, hit, truth, right):
    """A row of the table over all jobs: the line, its holder, what goes with it, and the line that proves it."""
    lines = script.read_text().splitlines()
    proof = next((n for n, line in enumerate(lines, 1) if truth["source"] in line), 0)
    found = hit.get("holders")
    text = re.sub(r" → C\+\+ [^|]*?(?= \||$)", "", brief(found)).replace("|", "and")
    text = text if truth["state"] else "(nothing is kept)"
    part = share(found) if found else None
    return "| `%s:%d` | %s | %s | %s | %d: `%s` |" % (
        name, (hit["frame"] or {}).get("line") or 0, text, "%.0f %%" % (100 * part) if part and truth["state"] else "",
        "right" if right else "wrong", proof, lines[proof - 1].split("#")[0].strip() if proof else "?")


def accused(report, folder):
    """Answers of a healthy job that would be false: no finding of it is lost or a cycle, and no line of code loses
    anything. Lines may be of a cycle that is one: schedulers of torch make classes in their steps."""
    false = [brief(f["holders"]) for f in report["findings"] if f.get("holders") and f["holders"]["state"] in NOBODY]
    for path in folder.glob("holders-*.json"):
        lines = json.loads(path.read_text())["lines"]
        false += ["%s: %s" % (line["state"], line["frame"]) for line in lines if line["state"] in ("lost", "reference")]
    return false
