/* Choices that several views share: which memory, which window. */

/* The memory that was asked for, else the first finding's, else the host's. */
function memoryWanted() {
    const wanted = state.get("memory");
    if (memories.includes(wanted))
        return wanted;
    return findings.length ? memoryOf(findings[0].space) : memories[0] || HOST;
}

function memoryChoice() {
    if (memories.length < 2)
        return null;
    return select("memory", memories.map((memory) => [memory, memoryName(memory)]), memoryWanted(),
        (memory) => state.set({memory, zoom: ""}));
}

/* The window as fields for the keyboard; dragging in the timeline does the same. */
function windowFields() {
    const window = windowOf(state.get("window"));
    const field = (label, value, other) => el("input", {type: "number", min: 0, max: lastStep, value, "aria-label": label,
        onchange: (event) => state.set({window: [Math.round(+event.target.value), other].sort((a, b) => a - b).join("-"), zoom: ""})});
    return el("span", {class: "field window", role: "group", "aria-label": "window"},
        el("span", {}, `from ${stepUnit} … to`), field(`from ${stepUnit}`, window.from, window.to),
        field(`to ${stepUnit}`, window.to, window.from),
        el("button", {type: "button", disabled: state.get("window") === "peak",
            onclick: () => state.set({window: "peak", zoom: ""})}, "to the peak"),
        el("button", {type: "button", disabled: window.whole, onclick: () => state.set({window: "", zoom: ""})}, "whole run"));
}
