/* Keys, said on demand. */

const keysOfViews = () => [
    [`1 … ${views.length}`, views.map((view) => view.title.toLowerCase()).join(", ")],
    ["/", "search this view; views without a search open the flame graph's"],
    ["Tab", "from one control to the next"],
    ["arrows", "in the flame graph: callers, callees and neighbours; in the table: rows"],
    ["Enter", "zoom to the frame; open the row"],
    ["i", "in the flame graph: invert it (innermost or outermost frame on top)"],
    ["Esc", "zoom out; leave the search; close this"],
    ["d", "light or dark"],
    ...live ? [["p", "pause, or resume following the job"]] : [],
    ["?", "this"],
];

const keysTable = el("tbody");
derive(() => keysTable.replaceChildren(...keysOfViews().map(([key, what]) =>
    el("tr", {}, el("th", {scope: "row"}, el("kbd", {}, key)), el("td", {}, what)))));

const helpDialog = el("dialog", {"aria-label": "Keys"}, el("h2", {}, "Keys"),
    el("table", {}, keysTable),
    el("form", {method: "dialog"}, el("button", {autofocus: true, onclick: (event) => {
        event.preventDefault();
        helpDialog.close();
    }}, "Close")));

function isTyping(target) {
    return target.closest("input, textarea, select") !== null;
}

/* A view without a search of its own gives way to the flame graph, whose search looks at every frame. */
function goToSearch() {
    if (!document.querySelector("main .search")) {
        history.pushState(null, "", state.link("flame"));
        goByAddress();
    }
    document.querySelector("main .search").focus();
}

function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || helpDialog.open)
        return;
    if (isTyping(event.target)) {
        if (event.key === "Escape")
            event.target.blur();
        return;
    }
    const view = views.find((v) => v.key === event.key);
    if (view)
        location.hash = state.link(view.name);
    else if (event.key === "/")
        goToSearch();
    else if (event.key === "?")
        helpDialog.showModal();
    else if (event.key === "d")
        switchTheme();
    else if (event.key === "p" && live)
        pauseLive();
    else if (event.key === "i" && state.view === "flame")
        state.set({inverted: state.get("inverted") ? "" : "1", zoom: ""});
    else
        return;
    event.preventDefault();
}
