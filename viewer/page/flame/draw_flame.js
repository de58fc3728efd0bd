/* Draws a flame graph: boxes of frames, each as wide as the memory allocated below it, for keyboard and pointer. */

const BAND_HEIGHT = 4;

/* The node that is zoomed to: follows the frames from the root as far as they exist. */
function zoomedNode(root, path, keyOf = frameKey) {
    let node = root;
    for (const key of path ? path.split(".") : []) {
        const next = childrenOf(node, node.value * LEAST_SHARE).find((child) => keyOf(child.frame) === key);
        if (!next)
            break;
        node = next;
    }
    return node;
}

function pathOf(node, keyOf = frameKey) {
    const path = [];
    for (let at = node; at.parent; at = at.parent)
        path.unshift(keyOf(at.frame));
    return path.join(".");
}

/* Boxes of nodes that are wide enough to be seen: {node, x, width, depth}. Those above the zoomed node have the full
   width. */
function boxesOf(zoomed, width) {
    const boxes = [], above = [];
    for (let at = zoomed; at; at = at.parent)
        above.unshift(at);
    above.forEach((node, depth) => boxes.push({node, x: 0, width, depth}));
    const scale = width / (zoomed.value || 1);
    const place = (node, x, depth) => {
        const inSight = childrenOf(node, 0.8 / scale).filter((child) => child.value * scale >= 0.8);
        for (const child of inSight.sort((a, b) => b.value - a.value)) {
            const wide = child.value * scale;
            boxes.push({node: child, x, width: wide, depth});
            place(child, x, depth + 1);
            x += wide;
        }
    };
    place(zoomed, 0, above.length);
    return boxes;
}

/* The bands at the foot of a box: its spaces, each as wide as its share, with their own fills. */
function bandsOf(node, width, bands) {
    let x = 0;
    return width < 2 ? [] : bands(node).filter(([, share]) => share * width >= 0.5).map(([fill, share]) => {
        const from = x;
        x += share * width;
        return svg("path", {class: "band", d: `M${from.toFixed(2)} ${FRAME_HEIGHT - 1 - BAND_HEIGHT}H${x.toFixed(2)}V${FRAME_HEIGHT - 1}H${from.toFixed(2)}Z`, fill});
    });
}

function drawBox(box, y, found, look, zoom) {
    const {node, x, width, depth} = box;
    const chars = Math.floor((width - 8) / 6.7);
    const isMatch = found && node.frame >= 0 && found.matches[node.frame];
    const over = look.over(node), wide = Math.max(width - 0.5, 0.5);
    const drawn = svg("g", {class: `frame ${look.kind(node)}${found ? isMatch ? " match" : " dim" : ""}`, tabindex: "-1",
        transform: `translate(${x.toFixed(2)},${y})`, role: "treeitem", "aria-level": depth + 1, "aria-label": look.title(node),
        onclick: () => zoom(node)},
    svg("rect", {width: wide.toFixed(2), height: FRAME_HEIGHT - 1}),
    bandsOf(node, wide, look.bands),
    over ? svg("path", {d: `M0 0H${wide.toFixed(2)}V${FRAME_HEIGHT - 1}H0Z`, fill: over}) : null,
    chars >= 3 ? svg("text", {x: 4, y: 13}, cutText(look.text(node), chars)) : null);
    drawn.keptAs = () => pathOf(node);
    return drawn;
}

/* `upward`: the root is at the bottom. `look` says how to show a node: its class, title and text, its bands and the pattern
   over its colour, and the card with its facts. */
function drawFlame(width, {zoomed, found, zoom, look, upward, ...others}) {
    const boxes = boxesOf(zoomed, width), deepest = d3.max(boxes, (box) => box.depth), height = (deepest + 1) * FRAME_HEIGHT;
    const picture = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "flame", role: "tree", "aria-label": look.label}, look.defs);
    const drawn = boxes.map((box) => drawBox(box, (upward ? deepest - box.depth : box.depth) * FRAME_HEIGHT, found, look, zoom));
    picture.append(...drawn);
    listenTo(picture, boxes, drawn, {zoomed, zoom, look, upward, ...others});
    return picture;
}

function crumbs(zoomed, zoom) {
    const path = [];
    for (let at = zoomed; at; at = at.parent)
        path.unshift(at);
    const shown = path.length > 6 ? [path[0], null, ...path.slice(-4)] : path;
    return shown.map((node) => el("li", {}, node === null ? "…" : el("button", {type: "button", class: "crumb",
        "aria-current": node === zoomed ? "true" : null, onclick: () => zoom(node)}, nameOf(node.frame < 0 ? "all" : frame.name(node.frame)))));
}
