/* A table of very many rows, of which only those in sight exist. Columns: {key, title, text(row), wide, left}. */

const ROW_HEIGHT = 30;

function virtualTable({columns, label, sortKey, sortDown, onsort, onopen}) {
    const body = el("div", {class: "rows", role: "presentation"});
    const head = el("div", {class: "row head", role: "row"});
    const scroller = el("div", {class: "scroller", role: "grid", "aria-label": label, tabindex: "0"}, head, body);
    let list = [], active = 0;

    for (const column of columns) {
        const sorted = column.key === sortKey();
        head.append(el("div", {role: "columnheader", class: cellClass(column),
            "aria-sort": sorted ? (sortDown() ? "descending" : "ascending") : "none"},
        el("button", {type: "button", onclick: () => onsort(column.key), "data-key": column.key}, column.title)));
    }

    function cellClass(column) {
        return "cell" + (column.wide ? " wide" : "") + (column.left ? " left" : "");
    }

    function rowAt(at) {
        const row = el("div", {class: "row" + (at === active ? " active" : ""), role: "row", "aria-rowindex": at + 2,
            id: "row" + at, style: `top:${at * ROW_HEIGHT}px`, onclick: () => choose(at, true)});
        for (const column of columns)
            row.append(el("div", {class: cellClass(column), role: "gridcell"}, column.text(list[at])));
        return row;
    }

    function draw() {
        if (!scroller.isConnected) // its rows are of data that is no more
            return;
        const first = Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - 5);
        const last = Math.min(list.length, first + Math.ceil(scroller.clientHeight / ROW_HEIGHT) + 10);
        body.replaceChildren(...d3.range(first, last).map(rowAt));
        scroller.setAttribute("aria-activedescendant", list.length ? "row" + active : "");
    }

    function choose(at, open) {
        active = Math.min(Math.max(at, 0), list.length - 1);
        const top = active * ROW_HEIGHT, seen = scroller.clientHeight - 2 * ROW_HEIGHT;
        if (top < scroller.scrollTop)
            scroller.scrollTop = top;
        else if (top > scroller.scrollTop + seen)
            scroller.scrollTop = top - seen;
        draw();
        if (open && list.length)
            onopen(list[active]);
    }

    const page = () => Math.max(1, Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2);
    const moves = {ArrowDown: () => active + 1, ArrowUp: () => active - 1, PageDown: () => active + page(),
        PageUp: () => active - page(), Home: () => 0, End: () => list.length - 1, Enter: () => active};
    scroller.addEventListener("keydown", (event) => {
        if (event.target !== scroller || !moves[event.key] || event.ctrlKey || event.altKey || event.metaKey)
            return;
        event.preventDefault();
        choose(moves[event.key](), event.key === "Enter");
    });
    scroller.addEventListener("scroll", () => requestAnimationFrame(draw));
    new ResizeObserver(draw).observe(scroller);

    /* The number of the active row; with one given, it is that. */
    scroller.activeRow = (at = active) => {
        active = Math.max(0, Math.min(at, list.length - 1));
        draw();
        return active;
    };

    scroller.update = (rows) => {
        list = rows;
        active = Math.min(active, Math.max(list.length - 1, 0));
        body.style.height = list.length * ROW_HEIGHT + "px";
        scroller.setAttribute("aria-rowcount", list.length + 1);
        scroller.style.height = `min(60vh, ${(list.length + 1) * ROW_HEIGHT + 18}px)`;
        for (const header of head.children) {
            const key = header.firstChild.dataset.key;
            header.setAttribute("aria-sort", key === sortKey() ? (sortDown() ? "descending" : "ascending") : "none");
        }
        draw();
    };
    return scroller;
}
