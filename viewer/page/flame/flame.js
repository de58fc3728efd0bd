/* The flame graph: the outermost frame on top (or, inverted, the innermost), as broad as what was made below it. */

const FRAME_HEIGHT = 20;

function frameKind(f) {
    if (f < 0)
        return "all";
    if (!frame.isPython(f))
        return "native";
    const file = frame.file(f);
    return file.startsWith("/usr/") || file.includes("/site-packages/") || file.includes("/dist-packages/") || file.startsWith("<")
        ? "library" : "own";
}

const KIND_NAMES = {own: "the job's Python", library: "libraries' Python", native: "native code"};

function frameTitle(node, total) {
    return (node.frame < 0 ? "all" : frame.text(node.frame)) + `: ${bytesText(node.value)}, ${shareText(node.value / (total || 1))}`;
}

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

/* How a node is shown: its class, title and text, and what lies over its colour. */
function plainLook(total) {
    return {defs: null, label: "flame graph", kind: (node) => frameKind(node.frame), title: (node) => frameTitle(node, total),
        text: (node) => node.frame < 0 ? "all " + bytesText(node.value) : frame.text(node.frame), over: () => null};
}

function drawBox(box, found, look, zoom) {
    const {node, x, width, depth} = box;
    const chars = Math.floor((width - 8) / 6.7);
    const isMatch = found && node.frame >= 0 && found.matches[node.frame];
    const title = look.title(node), over = look.over(node);
    const wide = Math.max(width - 0.5, 0.5).toFixed(2);
    const drawn = svg("g", {class: `frame ${look.kind(node)}${found ? isMatch ? " match" : " dim" : ""}`, tabindex: "-1",
        transform: `translate(${x.toFixed(2)},${depth * FRAME_HEIGHT})`, role: "treeitem", "aria-level": depth + 1, "aria-label": title,
        onclick: () => zoom(node)},
    svg("title", {}, title),
    svg("rect", {width: wide, height: FRAME_HEIGHT - 1}),
    over ? svg("path", {d: `M0 0H${wide}V${FRAME_HEIGHT - 1}H0Z`, fill: over}) : null,
    chars >= 3 ? svg("text", {x: 4, y: 14}, cutText(look.text(node), chars)) : null);
    drawn.keptAs = () => pathOf(node);
    return drawn;
}

/* Arrows go to what lies there: up and down the stack, left and right beside. */
function moveIn(boxes, at, key) {
    const box = boxes[at];
    if (key === "ArrowUp")
        return boxes.findIndex((b) => b.node === box.node.parent);
    if (key === "ArrowDown")
        return boxes.findIndex((b) => b.node.parent === box.node);
    const row = boxes.map((b, i) => i).filter((i) => boxes[i].depth === box.depth).sort((a, b) => boxes[a].x - boxes[b].x);
    return row[row.indexOf(at) + (key === "ArrowRight" ? 1 : -1)] ?? -1;
}

function drawFlame(root, zoomed, width, found, zoom, tell, look = plainLook(root.value)) {
    const boxes = boxesOf(zoomed, width);
    const height = (d3.max(boxes, (box) => box.depth) + 1) * FRAME_HEIGHT;
    const picture = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "flame", role: "tree", "aria-label": look.label}, look.defs);
    const drawn = boxes.map((box) => drawBox(box, found, look, zoom));
    picture.append(...drawn);
    let active = Math.max(0, boxes.findIndex((box) => box.node === zoomed));
    drawn[active].setAttribute("tabindex", "0");
    const take = (at) => {
        drawn[active].setAttribute("tabindex", "-1");
        active = at;
        drawn[active].setAttribute("tabindex", "0");
    };
    picture.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            zoom(boxes[active].node, true);
        } else if (event.key === "Escape" || event.key === "Backspace") {
            event.preventDefault();
            zoom(zoomed.parent || root, true);
        } else if (event.key.startsWith("Arrow")) {
            event.preventDefault();
            const to = moveIn(boxes, active, event.key);
            if (to >= 0)
                drawn[to].focus();
        }
    });
    picture.addEventListener("focusin", (event) => {
        const at = drawn.indexOf(event.target);
        if (at < 0)
            return;
        take(at);
        tell(boxes[at].node);
    });
    picture.addEventListener("mouseover", (event) => {
        const at = drawn.indexOf(event.target.closest("g.frame"));
        if (at >= 0)
            tell(boxes[at].node);
    });
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

let treeMade;
derive(() => treeMade = {key: "", tree: null, weight: null});

function flameTree(memory, measure, window, finding, kind, inverted) {
    const key = [memory, measure, window.from, window.to, finding, kind, inverted].join(" ");
    if (treeMade.key !== key) {
        const weight = weights(memory, measure, window, finding);
        treeMade = {key, weight, tree: inverted ? calleesTree(weight, kind) : callersTree(weight, kind)};
    }
    return treeMade;
}

let countsMade;
derive(() => countsMade = {key: "", tree: null});

/* How often what is at or below a node was allocated in the whole run: the node with the same way to it in a tree of that. */
function allocationsText(node, memory, finding, kind, inverted) {
    const key = [memory, finding, kind, inverted].join(" ");
    if (countsMade.key !== key) {
        const counts = weights(memory, "allocated", windowOf(""), finding).map((bytes, i) => bytes > 0 ? sites.allocations[i] : 0);
        countsMade = {key, tree: inverted ? calleesTree(counts, kind) : callersTree(counts, kind)};
    }
    const path = pathOf(node), found = zoomedNode(countsMade.tree, path);
    return pathOf(found) === path ? "; " + plural(found.value, "allocation") + " in the run" : "";
}

/* What is not there, and where there is something. */
function emptyNote(measure, memory, finding, window) {
    const of = finding && findingById.has(finding) ? finding : memoryName(memory);
    const what = measure === "growth" ? `Nothing of ${of} grew in ${windowText(window)}.`
        : measure === "live" ? `Nothing of ${of} was live at the end of ${stepUnit} ${window.to}.` : `Nothing of ${of} in this measure.`;
    const way = findingById.has(finding) ? flameOf(findingById.get(finding)) : state.link("flame", {window: "peak", measure: "live"});
    return el("p", {class: "none"}, what, " ", el("a", {href: way}, "Show where there is something"));
}

function flameNote(root, measure, memory, finding, window) {
    const notes = root.value ? [] : [emptyNote(measure, memory, finding, window)];
    const other = d3.sum(Object.entries(data.others), ([space, sums]) => memoryOf(space) === memory ? sums.allocated_bytes : 0);
    const n = d3.sum(Object.entries(data.others), ([space, sums]) => memoryOf(space) === memory ? sums.sites : 0);
    if (n && !finding)
        notes.push(el("p", {class: "quiet"}, `${plural(n, "site")} too small to be seen are left out (${bytesText(other)} allocated ` +
            "in all); ", el("code", {}, "seep view --all"), " takes them in."));
    return notes;
}

const flameView = {
    name: "flame", title: "Flame graph",
    enter(root) {
        const controls = el("div", {class: "controls"}), trail = el("ol", {class: "crumbs", "aria-label": "zoomed to"});
        const told = el("p", {class: "told-frame"}), share = el("span", {class: "share", role: "status"}), notes = el("div");
        let now = null, refocus = false;
        const search = searchField("search", state.get("search"), (text) => state.set({search: text}));
        const zoom = (node, byKey) => {
            refocus = byKey || refocus;
            state.set({zoom: pathOf(node)}, true);
        };
        const tell = (node) => told.replaceChildren(nameOf(frameTitle(node, now.tree.value) + now.allocations(node)));
        const picture = fitted((width) => drawFlame(now.tree, now.zoomed, width, now.found, zoom, tell));
        const strip = fitted((width) => windowStrip(width, memoryWanted()));
        root.append(controls, howToRead("flame"), strip, el("div", {class: "controls"}, search, share), trail, told, picture,
            legend([]), notes);
        return () => {
            const memory = memoryWanted(), measure = state.get("measure", "live"), kind = state.get("stacks", "python");
            const finding = state.get("finding"), inverted = state.get("inverted") === "1";
            const window = windowOf(state.get("window"));
            updateControls(controls, [
                memoryChoice(),
                select("measure", MEASURES, measure, (value) => state.set({measure: value, zoom: ""})),
                select("stacks", STACK_KINDS, kind,
                    (value) => state.set({stacks: value, zoom: ""})),
                select("order", [["", "callers on top"], ["1", "inverted"]], inverted ? "1" : "",
                    (value) => state.set({inverted: value, zoom: ""})),
                select("of", [["", "all sites"], ...findings.filter((f) => f.sites.length).map((f) => [f.id, findingTitle(f)])], finding,
                    (value) => state.set({finding: value, zoom: ""})),
                windowFields()]);
            now = {...flameTree(memory, measure, window, finding, kind, inverted),
                allocations: (node) => allocationsText(node, memory, finding, kind, inverted)};
            now.zoomed = zoomedNode(now.tree, state.get("zoom"));
            const text = state.get("search").trim();
            now.found = text ? searchFrames(text, now.weight, kind) : null;
            const input = search.querySelector("input");
            if (document.activeElement !== input)
                input.value = state.get("search");
            share.textContent = now.found ? `${shareText(now.found.share)} match (${bytesText(now.found.bytes)})` : "";
            trail.replaceChildren(...crumbs(now.zoomed, zoom));
            tell(now.zoomed);
            strip.redraw();
            picture.redraw();
            notes.replaceChildren(kindLegend(), ...flameNote(now.tree, measure, memory, finding, window));
            if (refocus) {
                refocus = false;
                picture.querySelector("[tabindex='0']").focus();
            }
        };
    },
};

function kindLegend() {
    return el("ul", {class: "legend"}, Object.entries(KIND_NAMES).map(([kind, name]) => el("li", {},
        svg("svg", {width: 18, height: 12, "aria-hidden": "true"}, svg("g", {class: "frame " + kind},
            svg("rect", {width: 18, height: 12}))), " ", name)));
}
