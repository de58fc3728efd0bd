/* The only view of a look: the picture of what holds the memory, one holder, all of them as a table. */

const HOW_TO_READ_A_LOOK = [
    "The width of a box is the memory that would be freed without it. The boxes below are parts of that. The four below RSS add up to it.",
    "“Variables hold” unfolds by module or function, variable, attribute and container. “Not live” is freed memory that allocators keep, and " +
    "data of programs and libraries.",
    "Memory with two holders counts for neither; it counts for the object that holds both, or for “others”.",
    "Click a box to zoom in, press Esc to zoom out. Below the picture is what is known of a holder. The slider, or [ and ], choose the look."];

/* {tree, subject, k} as the address asks; the tree is remade when another look is chosen. */
let lookMade = null;
derive(() => lookMade = null);
function lookAsked() {
    const subject = subjectWanted(), k = lookWanted(subject);
    if (!lookMade || lookMade.subject !== subject || lookMade.k !== k)
        lookMade = {subject, k, tree: holderTree(subject, k)};
    return lookMade;
}

/* Stays the same element while it is dragged. */
function lookSlider() {
    const input = el("input", {type: "range", min: 1, step: 1, oninput: () => state.set({look: input.value})}), told = el("output", {});
    const field = el("label", {class: "field look-slider"}, el("span", {}, "look"), input, told);
    field.sync = (subject, k) => {
        field.hidden = subject.looks.length < 2;
        input.max = subject.looks.length;
        input.value = k + 1;
        told.textContent = `${k + 1} of ${subject.looks.length}, after ${secondsText(subject.looks[k].t_s)}`;
    };
    return field;
}

const processChoice = () => subjects.length < 2 ? null
    : select("of", subjects.map(({key, name}) => [key, name]), subjectWanted().key, (process) => state.set({process, zoom: "", look: ""}));

/* The picture with what is above and below it; `show({...})` brings it up to date. */
function icicleParts() {
    const trail = el("ol", {class: "crumbs", "aria-label": "zoomed to"}), told = el("p", {class: "told-frame"}), legendPlace = el("div"), card = readout();
    let now = null, refocus = false;
    const zoom = (node, byKey) => {
        refocus = byKey || refocus;
        state.set({zoom: branchPath(node)}, true);
    };
    const tell = (node) => told.replaceChildren(nameOf(factsLine(now.look.facts(node))));
    const picture = fitted((width) => drawIcicle(width, {...now, zoom, tell}));
    return {elements: [trail, told, picture, legendPlace, card], show({tree, subject, k}, zoomed, found) {
        const compared = k > 0;
        countHits(tree, found);
        now = {root: tree, zoomed, found, compared, look: {card, facts: (node) => branchFacts(node, tree, compared)}};
        trail.replaceChildren(...icicleCrumbs(zoomed, zoom));
        tell(zoomed);
        card.hide();
        picture.redraw();
        legendPlace.replaceChildren(icicleLegend(compared));
        if (refocus)
            picture.querySelector("[tabindex='0']").focus();
        refocus = false;
    }};
}

function holderTable(branchOf) {
    const sortKey = () => holderOrder(subjectWanted()), sortDown = () => state.get("order", "down") === "down";
    const table = virtualTable({columns: holderColumns(), chosen: () => "", label: "holders", sortKey, sortDown,
        onsort: (key) => state.set({sort: key, order: key === sortKey() && sortDown() ? "up" : "down"}),
        onopen: ({holder}) => state.set({zoom: branchPath(branchOf(holder))}, true)});
    let listed = [];
    table.show = (made, found) => {
        const asked = [made, state.get("search"), sortKey(), sortDown()];
        if (asked.every((one, n) => one === listed[n]))
            return;
        listed = asked;
        table.update(holderRows(made.subject, made.k, found, sortKey(), sortDown()));
    };
    return table;
}

const lookView = {
    name: "holders", title: "What holds the memory", key: "1",
    enter(root) {
        const facts = el("div"), verdict = el("div"), choices = el("span", {class: "choices"}), slider = lookSlider(), count = el("span", {class: "quiet", role: "status"});
        const search = searchField("search by name and type", state.get("search"), (text) => state.set({search: text}));
        const icicle = icicleParts(), details = el("div");
        const branchOf = (holder) => lookAsked().tree.descendants().find(({data: its}) => its.holder === holder);
        const table = holderTable(branchOf);
        root.append(verdict, facts, el("details", {class: "how"}, el("summary", {}, "How to read this"), HOW_TO_READ_A_LOOK.map((text) => el("p", {}, text))),
            el("div", {class: "controls"}, choices, slider, search, count), ...icicle.elements, details, el("h2", {}, "Holders"), table);
        let shown = [];
        return () => {
            const made = lookAsked(), {subject, k, tree} = made, found = holdersFound(subject.holders, state.get("search"));
            const input = search.querySelector("input"), zoomed = branchAt(tree, state.get("zoom"));
            if (document.activeElement !== input)
                input.value = state.get("search");
            updateControls(choices, [processChoice()]);
            slider.sync(subject, k);
            count.textContent = found ? `${countText(found.size)} of ${plural(subject.holders.length, "holder")}` : "";
            verdict.replaceChildren(verdictOf(subject, branchOf));
            facts.replaceChildren(factsOf(subject, k));
            icicle.show(made, zoomed, found);
            table.show(made, found);
            if (shown[0] !== made || shown[1] !== zoomed.data.holder) {
                shown = [made, zoomed.data.holder];
                const its = zoomed.data.holder ? holderDetails(subject, zoomed.data.holder, k) : null;
                details.replaceChildren(...its ? [its] : []);
                if (its)
                    its.drawn();
            }
        };
    },
};
