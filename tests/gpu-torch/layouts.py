"""Where seep says that blocks lay as there was no room, beside PyTorch's own snapshot of that instant."""


def differences(report, row):
    """Between the report and what PyTorch told an observer of out-of-memory errors, as texts."""
    failed = [layout for layout in report["layouts"] if layout["reason"] == "failed"]
    if len(failed) != 1:
        return ["%d layouts of failed requests" % len(failed)]
    layout, told = failed[0], row["shortage"]
    seen = {"segments": [[int(s["address"], 16), s["bytes"]] for s in layout["segments"]],
            "blocks": [[int(s["address"], 16) + at, size] for s in layout["segments"]
                       for at, size in zip(s["tensors"]["offset"], s["tensors"]["bytes"])]}
    wrong = ["%s: %d of %d are PyTorch's %d" % (what, len([x for x in seen[what] if x in told[what]]), len(seen[what]),
                                                len(told[what])) for what in seen if sorted(seen[what]) != sorted(told[what])]
    if not 0 < layout["asked_bytes"] <= told["asked"]:  # an observer is told of the segment that it would have taken
        wrong.append("asked_bytes is %d, of a segment of %d" % (layout["asked_bytes"], told["asked"]))
    for key, expected in (("left_out", None), ("outside_bytes", 0), ("other_bytes", 0)):
        if layout[key] != expected:
            wrong.append("%s is %s, not %s" % (key, layout[key], expected))
    return wrong
