"""Every text that a user can meet, from the sources: what C prints (errors, findings, evidence, advice, seep top), the rows
of tables (options, patterns), and the page's scripts and markup.

usage: python3 tools/texts.py > build/texts.txt      (or: make texts)

A line each, "file:line: text", to be read aloud. tests/structure/test_texts.py holds it to the code, and to RULES."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

# What puts its texts before people, a single word as well: the calls whose strings are all listed.
PRINTERS = {
    "seep_complain", "seep_error_set", "seep_finding_note", "seep_finding_title", "seep_finding_advise", "seep_text_format",
    "seep_put_text", "seep_put_wrapped", "seep_put_count", "seep_top_put", "put_text", "put_cell", "fputs", "fprintf", "printf",
    "puts",
}
# Where printers write for programs: formats of other tools, the harness of fuzzers and of seep-lab's data.
FOR_PROGRAMS = re.compile(r"^(libprof/export/|kernels/(?!lab/)|preload/python/)")

# Rules of plain English that a machine can hold: what is not to be said, what to say instead, and whether it is held, so
# that a test fails where somebody says it. `make texts` counts the others.
RULES = (
    (r"\bthat which\b", "what, or name it", True),
    (r"\bas large as that\b", "say how large", True),
    (r"\bwhat is said here\b", "say what", True),
    (r"\brun on past\b", "Run longer, past …", True),
    (r"\bputs the end off\b", "delays the crash", True),
    (r"\bmend\b", "fix", True),
    (r"\bno room for\b", "out of memory", True),
    (r"\bgoes with (?:it|%s)\b", "deleting it frees …", True),
    (r"\bonce it is fixed\b", "fixing it saves …", True),
    (r"\bits course\b", "timeline", True),
    (r"\bwho joins\b|\blooks like this, too\b", "… looks the same", True),
    (r"\bthe list has a bound\b", "the list is bounded", True),
    (r"\bin use (?:are|were)\b", "… in use", True),
    (r"\bwithout an end\b", "never levels off", True),
    (r"\bnothing kept\b", "keeps nothing", True),
    (r"\bso that (?:[^.;:]* )?that\b", "one idea a sentence", True),
    (r"\bof a run like this one\b", "in a run like this one", True),
    (r"[a-z] (?:device|tensor):(?:%d|%u|\d)", "GPU 0, tensors on GPU 0", True),
    (r"\bz = ", "statistics belong to the details", True),
    (r"\bgive it up\b|\bgiven up\b", "stop, cancel", True),
    (r"\b(?:hangs?|hung) on\b", "depends on", True),
    (r"\bto be had\b", "available", True),
    (r"\bworth a word\b", "worth reporting", True),
    (r"\bby its own word\b", "says", True),
    (r"\bone behind the other\b", "one after the other", True),
    (r"\bthat (?:is|are) no (?!longer)", "is not a …", True),
    (r"\b(?:as (?:much|well|near|so) as|no (?:more|less) than) that\b", "say how much", True),
    (r"\banew\b", "again", True),
    (r"\b(?:is|are) not there\b", "does not exist", True),
    (r"\bleave \S+ away\b", "omit", True),
    (r"\bits room\b|\bcheck the room\b|\broom there\b", "free space", True),
)

COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|^\s*#\s*include[^\n]*|\'(?:[^\'\\\n]|\\.)+\'|"(?:[^"\\\n]|\\.)*"',
                               re.S | re.M)
STRING_OF_JS = re.compile(r'/\*.*?\*/|(?<![:"\'])//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`', re.S)
TEXT_OF_HTML = re.compile(r"<!--.*?-->|<(?:style|script).*?</(?:style|script)>|"
                          r"(?:title|aria-label|placeholder|alt|content)=\"([^\"]+)\"|>([^<>]+)<", re.S)
SENTENCE = re.compile(r"[A-Za-z]{2,}[^A-Za-z]* [a-z]{2,}|^ [a-z]{2,}|[a-z]{2,}[,:;]? $|^[A-Z][a-z]+ [A-Za-z]")
WORD = re.compile(r"[A-Za-z]{2,}")
CONVERSION = re.compile(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z|j|t)?[a-zA-Z]|\\[nt\"0-7x]")


def reads(text):
    """What of a string is read: no conversions, no escapes."""
    return CONVERSION.sub(" ", text)


def line_of(source, at):
    return source.count("\n", 0, at) + 1


def strings_of_c(source):
    """(line, text, the innermost call that it is an argument of or "") of each string; neighbours are one."""
    calls, last, place = [], None, 0
    for match in COMMENT_OR_STRING.finditer(source):
        between = source[place:match.start()]
        for name in re.finditer(r"(\w*)\s*\(|\)", between):
            if name.group(0) == ")":
                calls = calls[:-1]
            else:
                calls.append(name.group(1))
        place = match.end()
        token = match.group(0)
        if not token.startswith('"'):
            continue
        if last and not between.strip("\\ \n"):  # a macro goes on in the next line
            last[1] += token[1:-1]
            continue
        if last:
            yield tuple(last)
        last = [line_of(source, match.start()), token[1:-1], calls[-1] if calls else ""]
    if last:
        yield tuple(last)


def texts_of_c(file, source):
    for line, text, call in strings_of_c(source):
        printed = call in PRINTERS and not FOR_PROGRAMS.match(file)
        if SENTENCE.search(reads(text)) or (printed and WORD.search(reads(text))):
            yield line, text


def texts_of_js(file, source):
    del file
    for match in STRING_OF_JS.finditer(source):
        text = match.group(0)
        if text[0] in "\"'`" and SENTENCE.search(reads(text[1:-1])):
            yield line_of(source, match.start()), text[1:-1]


def texts_of_html(file, source):
    del file
    for match in TEXT_OF_HTML.finditer(source):
        text = match.group(1) or match.group(2)
        if text and WORD.search(text):
            yield line_of(source, match.start(match.lastindex)), text


FOLDERS = ("libprof", "preload", "viewer", "kernels/lab")
READERS = {".c": texts_of_c, ".h": texts_of_c, ".def": texts_of_c, ".js": texts_of_js, ".html": texts_of_html}


def texts():
    """(file, line, text) of each, blanks and line ends as one blank."""
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*") if path.suffix in READERS)
    for path in files:
        file = path.relative_to(ROOT).as_posix()
        for line, text in READERS[path.suffix](file, path.read_text(encoding="utf-8")):
            yield file, line, re.sub(r"\s+", " ", text.replace("\\n", " ")).strip(" ")


def breaches(all_texts):
    """(rule, [texts that break it]) of each rule."""
    all_texts = list(all_texts)
    for rule in RULES:
        pattern = re.compile(rule[0])
        yield rule, ["%s:%d: %s" % text for text in all_texts if pattern.search(text[2])]


if __name__ == "__main__":
    for row in texts():
        print("%s:%d: %s" % row)
    for (banned, instead, _), found in breaches(texts()):
        if found:
            print("%3d say %s: %s" % (len(found), banned, instead), file=sys.stderr)
