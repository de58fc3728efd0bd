/* A line of the job's code, with its neighbours where the command could read them. */

function placeText(place) {
    if (!place)
        return "no line: memory that nobody recorded";
    if (place.file)
        return belowCwd(place.file) + (place.line ? ":" + place.line : "");
    return (place.module || "?").split("/").pop() + (place.offset ? "+0x" + place.offset.toString(16) : "");
}

function findingLink(id) {
    return el("a", {href: "#findings?finding=" + id}, id);
}

/* A text in which each finding of this page that it names is a link: "fix F2 first". */
function withFindingLinks(text) {
    return el("bdi", {}, text.split(/(?<![\w.\/-])(F[1-9]\d*)(?![\w(-]|\.\w)/).map((part) => findingById.has(part) ? findingLink(part) : part));
}

function functionText(place) {
    return place && (place.qualname || place.function) || "";
}

function excerptOf(place) {
    return data.excerpts.find((one) => place && one.file === place.file && one.line === place.line);
}

/* The lines around one, it marked; null where they are not known. */
function sourceLines(place) {
    const excerpt = excerptOf(place);
    if (!excerpt)
        return null;
    const indent = Math.min(...excerpt.lines.filter((text) => text.trim()).map((text) => text.search(/\S/)));
    return el("ol", {class: "source", start: excerpt.first, tabindex: "0", "aria-label": "source around " + placeText(place)},
        excerpt.lines.map((text, i) => el("li", {class: excerpt.first + i === excerpt.line ? "here" : null,
            value: excerpt.first + i}, nameOf(text.slice(Math.min(indent, text.length)) || " "))));
}
