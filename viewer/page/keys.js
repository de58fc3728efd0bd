/* The keys, shown on demand. */

const keysTable = el("tbody");

function tellKeys() {
    const rows = [[thisPage.views().length > 1 ? `1 … ${thisPage.views().length}` : "1", thisPage.views().map((view) => view.title.toLowerCase()).join(", ")],
        ...thisPage.keys(), ["d", "light or dark"], ["?", "this"]];
    keysTable.replaceChildren(...rows.map(([key, what]) => el("tr", {}, el("th", {scope: "row"}, el("kbd", {}, key)), el("td", {}, what))));
}

const helpDialog = el("dialog", {"aria-label": "Keys"}, el("h2", {}, "Keys"),
    el("table", {}, keysTable),
    el("p", {}, editorChoice()),
    el("form", {method: "dialog"}, el("button", {autofocus: true, onclick: (event) => {
        event.preventDefault();
        helpDialog.close();
    }}, "Close")));

function isTyping(target) {
    return target.closest("input, textarea, select") !== null;
}

/* From a view without a search of its own, goes to the one whose search covers everything. */
function goToSearch() {
    if (!document.querySelector("main .search")) {
        history.pushState(null, "", state.link(thisPage.searched));
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
    const view = thisPage.views().find((v) => v.key === event.key);
    if (view)
        location.hash = state.link(view.name);
    else if (event.key === "/")
        goToSearch();
    else if (event.key === "?")
        helpDialog.showModal();
    else if (event.key === "d")
        switchTheme();
    else if (!thisPage.press(event.key))
        return;
    event.preventDefault();
}
