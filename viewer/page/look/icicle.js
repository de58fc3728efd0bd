/* Draws the tree as an icicle: a box as wide as its bytes, and its parts below. Colour and sign say how it changed. */

const MOST_ROWS = 60, LEAST_CHANGE = 65536; /* as seep look has it */
const CHANGE_NAMES = {endless: "grew at each look, and has no bound", grew: "grew since the first look", shrank: "shrank", same: "stayed",
    part: "not live, or a file's"};

function branchChange(node, compared) {
    const more = compared ? node.value - node.was : 0, {holder, kind} = node.data;
    if (kind)
        return "part";
    if (more >= LEAST_CHANGE)
        return holder && holder.growth === "endless" ? "endless" : "grew";
    return more <= -LEAST_CHANGE ? "shrank" : "same";
}

const changeText = (node, compared) => compared && Math.abs(node.value - node.was) >= LEAST_CHANGE ? signedText(node.value - node.was) : "";

/* {name, where, facts}, as a card beside the pointer shows them. */
function branchFacts(node, whole, compared) {
    const {holder, kind, name} = node.data, change = changeText(node, compared);
    return {name: holder ? holder.path.text : node.ancestors().reverse().slice(1).map(({data}) => data.name).join(" ") || name, facts: [
        `${bytesText(node.value)}, ${shareText(node.value / (whole.value || 1))} of ${whole.data.name === "RSS" ? "the RSS" : whole.data.name}`,
        ...change ? [change + " since the first look"] : [],
        ...PART_TITLES[kind] ? [PART_TITLES[kind]] : [],
        ...holder ? [containerText(holder, holder.length), holder.objects > 1 ? plural(holder.objects, "object") : ""].filter(Boolean) : []]};
}

/* {node, x, width, depth}, as drawFlame() has them: what is wide enough, and of what is above it all of the width. */
function icicleBoxes(zoomed, width) {
    const scale = width / (zoomed.x1 - zoomed.x0 || 1), boxes = zoomed.ancestors().reverse().map((node, depth) => ({node, x: 0, width, depth}));
    const place = (node) => (node.children || []).forEach((child) => {
        const wide = (child.x1 - child.x0) * scale;
        if (wide < 0.8 || child.depth > zoomed.depth + MOST_ROWS)
            return;
        boxes.push({node: child, x: (child.x0 - zoomed.x0) * scale, width: wide, depth: child.depth});
        place(child);
    });
    if (zoomed.value)
        place(zoomed);
    return boxes;
}

/* Counts the holders at and below each box that a search matches: `found`, null without a search. */
function countHits(tree, found) {
    tree.eachAfter((node) => node.hits = d3.sum(node.children || [], (child) => child.hits) + (found && found.has(node.data.holder) ? 1 : 0));
}

function branchClass(node, found, compared) {
    const matches = found && node.data.holder && found.has(node.data.holder);
    return `frame ${node.depth ? branchChange(node, compared) : "all"}${matches ? " match" : ""}${found && !node.hits ? " dim" : ""}`;
}

function drawBranch({node, x, width, depth}, found, compared, look, zoom) {
    const chars = Math.floor((width - 8) / 6.7), change = changeText(node, compared);
    const drawn = svg("g", {class: branchClass(node, found, compared), tabindex: "-1", transform: `translate(${x.toFixed(2)},${depth * FRAME_HEIGHT})`,
        role: "treeitem", "aria-level": depth + 1, "aria-label": factsLine(look.facts(node)), onclick: () => zoom(node)},
    svg("rect", {width: Math.max(width - 0.5, 0.5).toFixed(2), height: FRAME_HEIGHT - 1}),
    chars >= 3 ? svg("text", {x: 4, y: 14}, cutText(`${node.data.name} ${bytesText(node.value)} ${change}`.trim(), chars)) : null);
    return drawn;
}

const factsLine = ({name, facts}) => `${name}: ${facts.join("; ")}`;

function drawIcicle(width, {root, zoomed, found, compared, look, zoom, tell}) {
    const boxes = icicleBoxes(zoomed, width), height = (d3.max(boxes, (box) => box.depth) + 1) * FRAME_HEIGHT;
    const picture = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "flame icicle", role: "tree", "aria-label": "what holds the memory"});
    const drawn = boxes.map((box) => drawBranch(box, found, compared, look, zoom));
    picture.append(...drawn);
    listenTo(picture, boxes, drawn, {root, zoomed, zoom, tell, look});
    return picture;
}

function icicleCrumbs(zoomed, zoom) {
    const path = zoomed.ancestors().reverse(), few = path.length > 6 ? [path[0], null, ...path.slice(-4)] : path;
    return few.map((node) => el("li", {}, node === null ? "…" : el("button", {type: "button", class: "crumb",
        "aria-current": node === zoomed ? "true" : null, onclick: () => zoom(node)}, nameOf(cutText(node.data.name, 60)))));
}

const icicleLegend = (compared) => el("ul", {class: "legend"}, Object.entries(CHANGE_NAMES)
    .filter(([kind]) => compared || kind === "same" || kind === "part").map(([kind, name]) => el("li", {},
        svg("svg", {width: 18, height: 12, "aria-hidden": "true"}, svg("g", {class: "frame " + kind}, svg("rect", {width: 18, height: 12}))), " ",
        kind === "same" && !compared ? "live" : name)));
