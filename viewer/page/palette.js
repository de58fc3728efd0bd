/* Colours that differ without colour vision, too (after Okabe and Ito, 2008), and a pattern for each area, so that they
   differ on grey paper. */

const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];
const REST = "#6b6b6b";

const HATCHES = ["", "M0 6L6 0", "M3 0V6", "M0 0L6 6", "M0 3H6", "M2 3h2", "M0 6L6 0M0 0L6 6"];

/* Fills of n things in order; all after the seventh share one grey. */
function colourAt(i) {
    return i < PALETTE.length ? PALETTE[i] : REST;
}

function patternFill(defs, i) {
    if (i >= PALETTE.length || !HATCHES[i])
        return colourAt(i);
    const id = freshId("hatch");
    defs.append(svg("pattern", {id, width: 6, height: 6, patternUnits: "userSpaceOnUse"},
        svg("rect", {width: 6, height: 6, fill: PALETTE[i]}),
        svg("path", {d: HATCHES[i], stroke: "#000", "stroke-opacity": 0.35, "stroke-width": 1, fill: "none"})));
    return `url(#${id})`;
}

/* Kinds of spaces; each has the same fill everywhere on the page. No picture shows two devices. */
const SPACE_KINDS = ["host", "mmap", "shm", "pinned", "device", "tensor"];

function spaceIndex(space) {
    const place = SPACE_KINDS.indexOf(space.split(":")[0]);
    return place < 0 ? PALETTE.length : place;
}

/* [{name, index}] with the areas' own fills. */
function legend(entries, fill = patternFill) {
    return el("ul", {class: "legend"}, entries.map((entry) => {
        const picture = svg("svg", {width: 18, height: 12, "aria-hidden": "true"});
        const defs = svg("defs");
        picture.append(defs);
        picture.append(entry.line
            ? svg("path", {d: entry.upright ? "M3 12V2M9 12V2M15 12V2" : "M0 6H18", class: entry.line})
            : svg("rect", {width: 18, height: 12, fill: fill(defs, entry.index)}));
        return el("li", {}, picture, " ", nameOf(entry.name), entry.note ? el("span", {class: "quiet"}, " " + entry.note) : null);
    }));
}
