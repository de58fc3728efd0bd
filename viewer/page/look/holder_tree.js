/* All of the RSS as a tree: what variables hold, by the steps of the path; what no variable holds; what is not live. The box
   below a box is a part of what would be freed without it. */

const STATE_NAMES = {held: "variables hold", cycle: "reference cycles", reference: "references never given back", lost: "nothing points to"};
/* Where not all memory was seen, what was not may hold it. */
const stateName = (state, look) => state !== "lost" ? STATE_NAMES[state]
    : look.incomplete ? "what was not read may hold" : look.allocator ? "what is not counted may hold" : STATE_NAMES.lost;
const PART_TITLES = {
    files: "of the RSS, as of libraries: it can be read again from the files, or belongs to others as well",
    rest: "freed memory that allocators keep, and data of programs and libraries that they have changed"};

const branch = (name, own = 0, was = 0, kind = "") => ({name, own, was, kind, children: []});

/* What a holder retains without the holders within it, at a look. */
function ownBytes(holders, k) {
    const own = holders.map((holder) => bytesAt(holder, k));
    holders.forEach((holder) => holder.within === null || (own[holder.within] -= bytesAt(holder, k)));
    return own.map((bytes) => Math.max(bytes, 0));
}

function stepTo(node, name) {
    let next = node.children.find((child) => child.name === name);
    if (!next)
        node.children.push(next = branch(name));
    return next;
}

/* The box of a holder, below that of the holder around it, or of its state. */
function placeHolder(holder, base, common) {
    let node = base;
    for (const name of stepsTo(holder).slice(common))
        node = stepTo(node, name);
    if (node === base || node.holder)
        node.children.push(node = branch(holder.type || "blocks"));
    node.holder = holder;
    return node;
}

function commonSteps(a, b) {
    let n = 0;
    while (n < a.length && n < b.length && a[n] === b[n])
        n++;
    return n;
}

/* Adds the holders, those around others first. */
function placeAll(holders, states, own, was) {
    const placed = new Map();
    for (let i = 0; i < holders.length; i++) {
        const waiting = [];
        for (let at = i; at !== null && !placed.has(at); at = holders[at].within)
            waiting.push(at);
        for (const at of waiting.reverse()) {
            const holder = holders[at], around = holder.within;
            const node = around === null ? placeHolder(holder, states[holder.state], 0)
                : placeHolder(holder, placed.get(around), commonSteps(stepsTo(holders[around]), stepsTo(holder)));
            [node.own, node.was] = [own[at], was[at]];
            placed.set(at, node);
        }
    }
}

/* The types of what is held by nobody who is listed, each a box of "others"; of a look of an older seep none. */
function addTypes(node, subject, k) {
    const typesOf = (look) => new Map((look.others || []).map(({type, bytes}) => [type || "blocks of C and C++", bytes]));
    const [now, was] = [typesOf(subject.looks[k]), typesOf(subject.looks[0])];
    for (const [type, bytes] of now) {
        const its = branch(type, Math.min(bytes, node.own), Math.min(was.get(type) || 0, node.was));
        [node.own, node.was] = [node.own - its.own, node.was - its.was];
        node.children.push(its);
    }
    if (now.size) {
        node.children.push(branch("other types", node.own, node.was));
        [node.own, node.was] = [0, 0];
    }
}

/* What the looks count of a state beyond its holders. */
function addOthers(node, subject, k, state) {
    const key = state + "_bytes", outer = subject.holders.filter((holder) => holder.within === null && holder.state === state);
    const [now, was] = [k, 0].map((n) => Math.max(0, subject.looks[n][key] - d3.sum(outer, (holder) => bytesAt(holder, n))));
    const others = branch(outer.length ? "others, each small" : "each small", now, was);
    node.children.push(others);
    if (state === "held")
        addTypes(others, subject, k);
}

const notLive = (look) => Math.max(0, look.rss_bytes - look.file_bytes - look.live_bytes);

/* d3's hierarchy, with `value` at look k, and `was` at the first one. */
function holderTree(subject, k) {
    const look = subject.looks[k], first = subject.looks[0];
    const states = Object.fromEntries(Object.keys(STATE_NAMES).map((state) => [state, branch(stateName(state, look))]));
    const {held, ...others} = states;
    placeAll(subject.holders, states, ownBytes(subject.holders, k), ownBytes(subject.holders, 0));
    Object.entries(states).forEach(([state, node]) => addOthers(node, subject, k, state));
    const unheld = {...branch("no variable holds"), children: Object.values(others)};
    const rest = look.rss_bytes === null ? [] : [branch("files and shared memory", look.file_bytes, first.file_bytes, "files"),
        branch("not live", notLive(look), notLive(first), "rest")]; // a core file does not say
    const whole = {...branch(rest.length ? "RSS" : "live memory"), children: [held, unheld, ...rest]};
    const tree = d3.hierarchy(whole).sum(({own}) => own).sort((a, b) => a.depth === 1 ? 0 : b.value - a.value);
    tree.eachAfter((node) => node.was = node.data.was + d3.sum(node.children || [], (child) => child.was));
    return d3.partition()(tree);
}

const branchKey = (node) => shortKey(node.data.name);

/* The address of a box: its steps from the root; it is the same at each look. */
const branchPath = (node) => node.ancestors().reverse().slice(1).map(branchKey).join(".");

/* The node at an address, as far as there is one. */
function branchAt(tree, path) {
    let node = tree;
    for (const key of path ? path.split(".") : []) {
        const next = (node.children || []).find((child) => branchKey(child) === key);
        if (!next)
            break;
        node = next;
    }
    return node;
}
