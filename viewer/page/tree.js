/* Stacks as a tree of frames with weights, for the flame graph. A node: {frame, value, children, self}. */

const MEASURES = [["live", "live at the window's end"], ["growth", "growth in the window"], ["peak", "highest in the window, each site"],
    ["allocated", "allocated in the whole run"]];
const STACK_KINDS = [["python", "Python"], ["native", "native"], ["both", "both"]];
const LEAST_SHARE = 1 / 4000; /* of what is drawn: narrower frames are not to be seen */

function weightOf(i, measure, window) {
    if (measure === "allocated")
        return sites.allocated_bytes[i] || 0;
    if (measure === "growth")
        return Math.max(0, levelAt(i, window.to) - (window.whole ? 0 : levelAt(i, window.from)));
    if (measure === "peak")
        return window.whole ? sites.peak_bytes[i] || 0 : highestIn(i, window.from, window.to);
    return levelAt(i, window.to);
}

/* Weights of all sites that are looked at; others weigh nothing. */
function weights(memory, measure, window, finding) {
    const list = new Float64Array(nSites);
    for (let i = 0; i < nSites; i++) {
        if (memoryOf(site.space(i)) === memory && (!finding || findingOf[i] && findingOf[i].id === finding))
            list[i] = weightOf(i, measure, window);
    }
    return list;
}

/* Python's own way to a module says nothing: it is left out. */
function isShown(f, kind) {
    return !frame.isImport(f) && (kind === "both" || frame.isPython(f) === (kind === "python"));
}

/* Callers first: parents are in the table before their children, so that one pass makes the tree, and one back sums it. */
function callersTree(weight, kind) {
    const root = {frame: -1, value: 0, self: 0, children: [], parent: null};
    const nodes = [root], of = new Array(nStacks), known = new Map(), nFrames = frames.name.length;
    const used = new Uint8Array(nStacks);
    for (let i = 0; i < nSites; i++)
        if (weight[i] > 0 && sites.stack[i] >= 0)
            used[sites.stack[i]] = 1;
    for (let s = nStacks - 1; s >= 0; s--)
        if (used[s] && stacks.parent[s] >= 0)
            used[stacks.parent[s]] = 1;
    root.id = 0;
    for (let s = 0; s < nStacks; s++) {
        if (!used[s])
            continue;
        const f = stacks.frame[s], parent = stacks.parent[s] < 0 ? root : of[stacks.parent[s]];
        if (!isShown(f, kind)) {
            of[s] = parent;
            continue;
        }
        const key = parent.id * nFrames + f;
        let node = known.get(key);
        if (!node) {
            node = {frame: f, value: 0, self: 0, children: [], parent, id: nodes.length};
            known.set(key, node);
            nodes.push(node);
            parent.children.push(node);
        }
        of[s] = node;
    }
    for (let i = 0; i < nSites; i++) {
        if (weight[i] > 0)
            (sites.stack[i] < 0 ? root : of[sites.stack[i]]).self += weight[i];
    }
    for (let n = nodes.length - 1; n >= 0; n--) {
        const node = nodes[n];
        node.value += node.self;
        if (node.parent)
            node.parent.value += node.value;
    }
    return root;
}

/* The next frame outwards of a stack that is shown, or −1. */
function shownFrom(at, kind) {
    while (at >= 0 && !isShown(stacks.frame[at], kind))
        at = stacks.parent[at];
    return at;
}

/* The innermost first: a node's children are made only where it is broad enough to be seen. */
function calleesTree(weight, kind) {
    const root = {frame: -1, value: 0, self: 0, children: [], parent: null};
    let tips = [];
    for (let i = 0; i < nSites; i++) {
        if (weight[i] > 0) {
            tips.push([shownFrom(sites.stack[i], kind), weight[i]]);
            root.value += weight[i];
        }
    }
    const least = root.value * LEAST_SHARE;
    const grow = [[root, tips]];
    while (grow.length) {
        const [node, list] = grow.pop();
        const groups = new Map();
        for (const [at, value] of list) {
            if (at < 0) {
                node.self += value;
                continue;
            }
            const f = stacks.frame[at];
            if (!groups.has(f))
                groups.set(f, [{frame: f, value: 0, self: 0, children: [], parent: node}, []]);
            const group = groups.get(f);
            group[0].value += value;
            group[1].push([shownFrom(stacks.parent[at], kind), value]);
        }
        for (const group of groups.values()) {
            if (group[0].value < least)
                continue;
            node.children.push(group[0]);
            grow.push(group);
        }
    }
    return root;
}

/* Share of the weight whose stacks have a matching frame, and which frames match. */
function searchFrames(text, weight, kind) {
    const wanted = text.toLowerCase();
    const matches = new Uint8Array(frames.name.length);
    for (let f = 0; f < matches.length; f++)
        matches[f] = isShown(f, kind) && lowerText(f).includes(wanted) ? 1 : 0;
    const has = new Uint8Array(nStacks);
    for (let s = 0; s < nStacks; s++)
        has[s] = matches[stacks.frame[s]] || (stacks.parent[s] >= 0 && has[stacks.parent[s]]) ? 1 : 0;
    let found = 0, total = 0;
    for (let i = 0; i < nSites; i++) {
        total += weight[i];
        if (sites.stack[i] >= 0 && has[sites.stack[i]])
            found += weight[i];
    }
    return {matches, share: total ? found / total : 0, bytes: found};
}
