/* Lines of the job's code, with lines around them where the command could read the file. */

function placeText(place) {
    if (!place)
        return "no line: seep did not record this memory";
    if (place.file)
        return belowCwd(place.file) + (place.line ? ":" + place.line : "");
    return (place.module || "?").split("/").pop() + (place.offset ? "+0x" + place.offset.toString(16) : "");
}

function findingLink(id) {
    return el("a", {href: "#findings?finding=" + id}, id);
}

/* A text in which the names of this page's findings are links: "fix F2 first". */
function withFindingLinks(text) {
    return el("bdi", {}, text.split(/(?<![\w.\/-])(F[1-9]\d*)(?![\w(-]|\.\w)/).map((part) => findingById.has(part) ? findingLink(part) : part));
}

function functionText(place) {
    return place && (place.qualname || place.function) || "";
}

function isSameLine(a, b) {
    return Boolean(a && b && a.file && a.file === b.file && a.line === b.line);
}

/* {file, first, lines} around a line, or only that line where the report has no more; null: unknown. */
function excerptOf(place) {
    const around = data.excerpts.find((one) => isSameLine(one, place));
    if (around)
        return around;
    return place && place.text ? {file: place.file, first: place.line, lines: [place.text]} : null;
}

/* Excerpts around places, each with the numbers of its `own` lines; excerpts of one file that touch are merged. */
function snippetsOf(places) {
    const snippets = [];
    places.forEach((place, n) => {
        const one = excerptOf(place), end = one && one.first + one.lines.length;
        const near = one && snippets.find(({excerpt: other}) => other && other.file === one.file &&
            one.first <= other.first + other.lines.length && other.first <= end);
        if (!near) {
            snippets.push({own: [n], excerpt: one && {...one, marked: [place.line]}});
            return;
        }
        const {excerpt} = near, first = Math.min(excerpt.first, one.first);
        const last = Math.max(excerpt.first + excerpt.lines.length, end);
        const lineAt = (at) => one.lines[at - one.first] ?? excerpt.lines[at - excerpt.first];
        near.own.push(n);
        near.excerpt = {...excerpt, first, lines: d3.range(first, last).map(lineAt), marked: [...excerpt.marked, place.line]};
    });
    return snippets;
}

/* Strips empty lines at both ends. The first of the marked lines is the one to look at. */
function sourceLines({file, first, lines, marked}) {
    const said = lines.map((text, i) => ({text, line: first + i})).filter(({text}) => text.trim());
    if (!said.length)
        return null;
    const indent = d3.min(said, ({text}) => text.search(/\S/)), from = said[0].line, to = said[said.length - 1].line;
    const kind = (line) => ["here", "also"][Math.min(marked.indexOf(line), 1)];
    return el("ol", {class: "source", start: from, tabindex: "0", "aria-label": "source around " + belowCwd(file) + ":" + marked[0]},
        d3.range(from, to + 1).map((line) => el("li", {class: kind(line), value: line}, nameOf(lines[line - first].slice(indent) || " "))));
}
