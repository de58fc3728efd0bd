/* A flame graph as a picture: boxes of frames, as broad as what was made below them, with keys and a pointer. */

const FRAME_HEIGHT = 22, BAND_HEIGHT = 4;

/* The node that is zoomed to: frames from the root on, as far as they are there. */
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

/* Boxes of what is broad enough to be seen: {node, x, width, depth}. Those above the zoomed node are as broad as all. */
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

/* What lies at the foot of a box: its spaces, each as broad as its share, with their own fills. */
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

/* Arrows go to what lies there: up and down the stack, left and right beside. */
function moveIn(boxes, at, key, upward) {
    const box = boxes[at];
    if (key === (upward ? "ArrowDown" : "ArrowUp"))
        return boxes.findIndex((b) => b.node === box.node.parent);
    if (key === (upward ? "ArrowUp" : "ArrowDown"))
        return boxes.findIndex((b) => b.node.parent === box.node);
    const row = boxes.map((b, i) => i).filter((i) => boxes[i].depth === box.depth).sort((a, b) => boxes[a].x - boxes[b].x);
    return row[row.indexOf(at) + (key === "ArrowRight" ? 1 : -1)] ?? -1;
}

/* Keys and the pointer, for boxes as they are drawn. */
function listenTo(picture, boxes, drawn, {root, zoomed, zoom, tell, look, upward}) {
    let active = Math.max(0, boxes.findIndex((box) => box.node === zoomed));
    const take = (at) => {
        drawn[active].setAttribute("tabindex", "-1");
        active = at;
        drawn[active].setAttribute("tabindex", "0");
    };
    take(active);
    const acts = {Enter: () => zoom(boxes[active].node, true), Escape: () => zoom(zoomed.parent || root, true),
        c: () => look.pick && look.pick(boxes[active].node)};
    picture.addEventListener("keydown", (event) => {
        const act = acts[{" ": "Enter", Backspace: "Escape"}[event.key] || event.key];
        if (event.ctrlKey || event.altKey || event.metaKey || !act && !event.key.startsWith("Arrow"))
            return;
        event.preventDefault();
        if (act)
            act();
        else
            drawn[moveIn(boxes, active, event.key, upward)]?.focus();
    });
    picture.addEventListener("focusin", (event) => {
        const at = drawn.indexOf(event.target);
        if (at >= 0) {
            take(at);
            tell(boxes[at].node);
        }
    });
    picture.addEventListener("mousemove", (event) => {
        const at = drawn.indexOf(event.target.closest("g.frame"));
        if (at >= 0)
            look.card.show(event, look.facts(boxes[at].node));
        else
            look.card.hide();
    });
    picture.addEventListener("mouseleave", look.card.hide);
}

/* `upward`: the root below, what comes after it above. `look` says how a node is shown: its class, title and text, its bands
   and what lies over its colour, and the card with its facts. */
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
