/* The flame graph: outermost frames on top (or, inverted, innermost); for one function, its callers above it and its
   callees below. */

function frameKind(f) {
    if (f < 0)
        return "all";
    return frame.isMadeUp(f) ? "made-up" : !frame.isPython(f) ? "native" : frame.isLibrary(f) ? "library" : "own";
}

const KIND_NAMES = {own: "the job's Python", library: "libraries' Python", native: "native code", "made-up": "imports, small sites, unattributed"};

/* The view that the address asks for. */
function flameAsked() {
    return {memory: memoryWanted(), measure: oneOf(measures(), state.get("measure")), window: windowOf(state.get("window")),
        finding: state.get("finding"), inverted: state.get("inverted") === "1",
        key: shownKey(oneOf(STACK_KINDS, state.get("stacks")), state.get("imports") === "1")};
}

let treeMade;
derive(() => treeMade = {key: "", tree: null, weight: null});

/* {weight, channels, spaces, tree, sandwich} of that view; the tree is remade when the view changes. */
function flameMade({memory, measure, window, finding, key, inverted}) {
    const asked = [memory, measure, window.from, window.to, window.whole, finding, key, inverted].join(" ");
    if (treeMade.key !== asked) {
        const weight = weights(memory, measure, window, finding), {all, spaces: own} = channelsOf(weight, memory);
        treeMade = {key: asked, weight, channels: all, spaces: own, tree: inverted ? calleesTree(all, key) : callersTree(all, key),
            sandwich: onceFor((name) => sandwichOf(name, all, key))};
    }
    return treeMade;
}

/* How drawFlame() shows a node; `card` tells of it beside the pointer. */
function plainLook(total, own, card) {
    const defs = svg("defs"), fills = own.map((space) => patternFill(defs, spaceIndex(space)));
    const facts = (node) => nodeFacts(node, total, own);
    return {defs, card, facts, label: "flame graph", kind: (node) => frameKind(node.frame), title: (node) => factsText(facts(node)),
        text: (node) => node.frame < 0 ? "all " + bytesText(node.value) : frame.text(node.frame), over: () => null,
        bands: (node) => fills.map((fill, n) => [fill, node.sums[3 + n] / (node.value || 1)]),
        pick: (node) => node.frame >= 0 && !frame.isMadeUp(node.frame) && state.set({function: functionKey(node.frame), zoom: ""}, true)};
}

/* Says what is missing here, and where there is something. */
function emptyNote({measure, memory, finding, window}) {
    const of = finding && findingById.has(finding) ? finding : memoryName(memory);
    const what = measure === "growth" ? `Nothing of ${of} grew in ${windowText(window)}.`
        : measure === "live" ? `Nothing of ${of} was live at the end of ${stepUnit} ${window.to}.` : `Nothing of ${of} in this measure.`;
    const way = findingById.has(finding) ? flameOf(findingById.get(finding)) : state.link("flame", {window: "peak", measure: "live"});
    return el("p", {class: "none"}, what, " ", el("a", {href: way}, "Show a graph with memory in it"));
}

/* Sites count the steps of their own process, which may have ended before others; and a step may end after the timeline's
   last look at it. */
function beyondNote(value, {measure, memory, finding, window}) {
    const row = lookAt(window.to);
    const line = measure === "live" && !finding && row !== undefined ? ofSpaces(memory, timeline.spaces, [row])[0] : Infinity;
    return value <= 1.02 * line ? null : el("p", {class: "quiet"}, `The timeline shows ${bytesText(line)} at ${stepUnit} ${window.to}. ` +
        (processes.length > 1 ? `This graph counts each process at its own ${stepUnit} ${window.to}; they did not all run at once.`
            : `It was measured before that ${stepUnit} ended; this graph counts its end.`));
}

function flameNotes(value, asked) {
    const n = asked.finding ? 0 : d3.sum(small.sites || [], (sites, i) => memoryOfText(small.space[i]) === asked.memory ? sites : 0);
    return [value ? beyondNote(value, asked) : emptyNote(asked),
        n ? el("p", {class: "quiet"}, `${plural(n, "site")} too small to see are drawn as “small sites” below their callers; `,
            el("code", {}, "seep view --all"), " shows each.") : null].filter(Boolean);
}

function flameLegend(own) {
    const fills = legend(own.map((space) => ({name: space, index: spaceIndex(space)})));
    fills.prepend(el("li", {class: "quiet"}, "Stripe at the foot of a box:"));
    return [el("ul", {class: "legend"}, Object.entries(KIND_NAMES).map(([kind, name]) => el("li", {},
        svg("svg", {width: 18, height: 12, "aria-hidden": "true"}, svg("g", {class: "frame " + kind},
            svg("rect", {width: 18, height: 12}))), " ", name))),
    fills];
}

function flameControls(asked) {
    const again = (key) => (value) => state.set({[key]: value, zoom: ""}), [kind, imports] = asked.key.split("+");
    return [memoryChoice(),
        select("measure", measures(), asked.measure, again("measure")),
        select("stacks", STACK_KINDS, kind, again("stacks")),
        kind === "native" ? null : select("imports", [["", "one box"], ["1", "unfolded"]], imports ? "1" : "", again("imports")),
        state.get("function") ? null
            : select("order", [["", "callers on top"], ["1", "inverted"]], asked.inverted ? "1" : "", again("inverted")),
        select("of", [["", "all sites"], ...findings.filter((f) => f.sites.length).map((f) => [f.id, findingTitle(f)])], asked.finding,
            again("finding")),
        windowFields()];
}

/* Links back from a function to the whole graph. */
function functionCrumbs(root) {
    return [el("li", {}, el("button", {type: "button", class: "crumb", onclick: () => state.set({function: ""}, true)}, "all")),
        el("li", {}, el("button", {type: "button", class: "crumb", "aria-current": "true"}, nameOf(frame.name(root.frame)), " and its callers and callees"))];
}

const flameView = {
    name: "flame", title: "Flame graph",
    enter(root) {
        const controls = el("div", {class: "controls"}), trail = el("ol", {class: "crumbs", "aria-label": "zoomed to"});
        const told = el("p", {class: "told-frame"}), share = el("span", {class: "share", role: "status"}), notes = el("div"), card = readout();
        let now = null, refocus = false;
        const search = searchField("search", state.get("search"), (text) => state.set({search: text}));
        const zoom = (node, byKey) => {
            refocus = byKey || refocus;
            if (!now.sandwich)
                state.set({zoom: pathOf(node)}, true);
            else if (node === now.sandwich.callers || node === now.sandwich.callees)
                state.set({function: ""}, true);
            else
                now.look().pick(node);
        };
        const tell = (node) => told.replaceChildren(nameOf(factsText(now.facts(node))), ...node.frame < 0 || frame.isMadeUp(node.frame) ? []
            : [" ", el("a", {href: sandwichLink(node.frame)}, "callers and callees")]);
        const graph = (tree, upward) => fitted((width) => drawFlame(width, {root: tree(), zoomed: now.sandwich ? tree() : now.zoomed,
            found: now.found, zoom, tell, look: now.look(), upward}));
        const picture = graph(() => now.sandwich ? now.sandwich.callees : now.tree), callers = graph(() => now.sandwich.callers, true);
        const strip = fitted((width) => windowStrip(width, memoryWanted()));
        const table = el("div"), functions = el("details", {class: "functions", ontoggle: () => drawTable()}, el("summary", {}, "Functions"), table);
        const drawTable = () => table.replaceChildren(...functions.open ? [functionTable(now.channels, now.asked.key)] : []);
        root.append(controls, howToRead("flame"), strip, el("div", {class: "controls"}, search, share), trail, told, callers, picture, notes, functions, card);
        return () => {
            const asked = flameAsked(), made = flameMade(asked);
            updateControls(controls, flameControls(asked));
            now = {asked, ...made, sandwich: state.get("function") ? made.sandwich(state.get("function")) : null,
                facts: (node) => nodeFacts(node, made.tree.value, made.spaces), look: () => plainLook(made.tree.value, made.spaces, card)};
            now.zoomed = now.sandwich ? now.sandwich.callees : zoomedNode(now.tree, state.get("zoom"));
            const text = state.get("search").trim(), input = search.querySelector("input");
            now.found = text ? searchFrames(text, now.weight, asked.key) : null;
            if (document.activeElement !== input)
                input.value = state.get("search");
            share.textContent = now.found ? `${shareText(now.found.share)} match (${bytesText(now.found.bytes)})` : "";
            trail.replaceChildren(...now.sandwich ? functionCrumbs(now.zoomed) : crumbs(now.zoomed, zoom));
            tell(now.zoomed);
            card.hide();
            strip.redraw();
            callers.hidden = !now.sandwich;
            if (now.sandwich)
                callers.redraw();
            picture.redraw();
            drawTable();
            notes.replaceChildren(...flameLegend(made.spaces), ...flameNotes(made.tree.value, asked));
            if (refocus) {
                refocus = false;
                picture.querySelector("[tabindex='0']").focus();
            }
        };
    },
};
