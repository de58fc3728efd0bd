"""A terminal's screen, taken from tmux with its escapes, as a page that a browser shows."""
import html
import os
import re
import subprocess
import time

COLOURS = ("#16181c", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#d8dade")
BACK, FORE = COLOURS[0], COLOURS[7]
PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>body {{ margin: 0; background: {back}; }}
pre {{ display: inline-block; margin: 0; padding: 14px 18px; color: {fore}; font: 14px/19px "DejaVu Sans Mono", monospace; }}
</style><pre>{text}</pre>"""


class Terminal:
    """A command on a terminal of its own, until it is closed."""

    def __init__(self, folder, command, columns, rows):
        self.env = {**os.environ, "TMUX_TMPDIR": folder, "LC_ALL": "C.UTF-8"}
        self.env.pop("TMUX", None)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), *command)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-u", *args], env=self.env, stdin=subprocess.DEVNULL, check=True,
                              stdout=subprocess.PIPE).stdout.decode()

    def screen(self, pattern, seconds):
        """The screen with its escapes, once the pattern is on it."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.tmux("capture-pane", "-p"), re.M):
            if time.monotonic() > end:
                raise TimeoutError("no %r on:\n%s" % (pattern, self.tmux("capture-pane", "-p")))
            time.sleep(0.1)
        return self.tmux("capture-pane", "-p", "-e")

    def close(self):
        self.tmux("kill-server")


def style_of(codes):
    """CSS of what escapes have set: {"bold", "underline", "reverse", "fore", "back"}."""
    fore, back = codes.get("fore", FORE), codes.get("back", BACK)
    if codes.get("reverse"):
        fore, back = back, fore
    return ("color:%s;background:%s" % (fore, back) + (";font-weight:bold" if codes.get("bold") else "") +
            (";text-decoration:underline" if codes.get("underline") else ""))


def of_256(n):
    """A colour of xterm's 256, from the 16th on: a cube, and greys."""
    if n >= 232:
        return "#%02x%02x%02x" % ((8 + 10 * (n - 232),) * 3)
    levels = ((n - 16) // 36, (n - 16) // 6 % 6, (n - 16) % 6)
    return "#%02x%02x%02x" % tuple(55 + 40 * level if level else 0 for level in levels)


def applied(codes, numbers):
    """What is set after an escape's numbers; those that nobody uses here change nothing."""
    codes, numbers = dict(codes), list(numbers)
    while numbers:
        n = numbers.pop(0)
        if n == 38 and numbers[:1] == [5]:
            codes["fore"] = of_256(numbers[1])
            del numbers[:2]
            continue
        if n == 0:
            codes = {}
        elif n in (1, 4, 7):
            codes[{1: "bold", 4: "underline", 7: "reverse"}[n]] = True
        elif 30 <= n <= 37:
            codes["fore"] = COLOURS[n - 30]
        elif 40 <= n <= 47:
            codes["back"] = COLOURS[n - 40]
        elif n in (39, 49):
            codes.pop("fore" if n == 39 else "back", None)
    return codes


def page_of(screen):
    """The screen as a page."""
    codes, made = {}, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", screen.rstrip("\n")):
        escape = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if escape:
            codes = applied(codes, [int(n or 0) for n in escape[1].split(";")])
        elif part:
            made.append('<span style="%s">%s</span>' % (style_of(codes), html.escape(part)))
    return PAGE.format(back=BACK, fore=FORE, text="".join(made))
