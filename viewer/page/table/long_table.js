/* A table of very many rows, of which only those in sight exist. Columns: {key, title, text(row, fit), width, wide, asked,
   left}. The first column is always shown and takes the remaining width, to which fit(text) shortens a name. Columns with
   `wide` are shown as far as they fit, the smallest `wide` first; those with `asked` only when asked for. */

const ROW_HEIGHT = 30, PAPER_ROWS = 200, LEAST_NAME = 260;
const isNarrow = matchMedia("(max-width: 760px)");

/* `chosen`: keys between commas; "": the columns that fit. */
function columnsShown(columns, chosen, room = main.clientWidth) {
    const keys = chosen.split(","), shown = new Set(columns.filter((column, i) => i === 0 ||
        (chosen ? keys.includes(column.key) : !column.asked && !column.wide)));
    let left = room - LEAST_NAME - d3.sum([...shown].slice(1), (column) => column.width);
    for (const column of chosen ? [] : columns.filter((one) => one.wide && !one.asked).sort((a, b) => a.wide - b.wide))
        if ((left -= column.width) >= 0)
            shown.add(column);
    return columns.filter((column) => shown.has(column));
}

/* A box to tick for each column. `choice.sync()` brings them up to date. */
function columnChoice(columns, chosen, changed) {
    const boxes = columns.slice(1).map((column) => el("input", {type: "checkbox", value: column.key, onchange: () =>
        changed(boxes.filter((box) => box.checked).map((box) => box.value).join(",") || "line")}));
    const choice = el("details", {class: "choose"}, el("summary", {}, "columns"), el("span", {class: "boxes"},
        boxes.map((box, i) => el("label", {}, box, " ", columns[i + 1].title)),
        el("button", {type: "button", onclick: () => changed("")}, "as many as fit")));
    choice.sync = () => {
        const shown = columnsShown(columns, chosen());
        boxes.forEach((box, i) => box.checked = shown.includes(columns[i + 1]));
    };
    return choice;
}

function virtualTable({columns, chosen, label, sortKey, sortDown, onsort, onopen}) {
    const body = el("div", {class: "rows", role: "presentation"});
    const head = el("div", {class: "row head", role: "row"});
    const rest = el("p", {class: "quiet rest"});
    const scroller = el("div", {class: "scroller", role: "grid", "aria-label": label, tabindex: "0", "data-paper": true}, head, body, rest);
    let list = [], active = 0, shown = [], drawnLook = "", onPaper = false;

    /* The header is remade when other columns are shown, and keeps the focus otherwise. */
    function drawHead() {
        const wanted = columnsShown(columns, chosen(), onPaper ? Infinity : main.clientWidth);
        const look = isNarrow.matches + wanted.map((column) => column.key).join();
        if (look !== drawnLook) {
            [shown, drawnLook] = [wanted, look];
            const widths = shown.slice(1).map((column) => Math.round(column.width * (isNarrow.matches ? 0.86 : 1)));
            head.replaceChildren(...shown.map((column) => el("div", {role: "columnheader", class: cellClass(column)},
                el("button", {type: "button", onclick: () => onsort(column.key), "data-key": column.key},
                    column.title.replace("/", "/\u200b")))));
            scroller.style.setProperty("--others", widths.map((width) => width + "px").join(" "));
            scroller.style.setProperty("--least", d3.sum(widths) + 150 + "px");
            scroller.style.setProperty("--columns", shown.length - 1);
        }
        for (const header of head.children)
            header.setAttribute("aria-sort", header.firstChild.dataset.key !== sortKey() ? "none"
                : sortDown() ? "descending" : "ascending");
    }

    function cellClass(column) {
        return "cell" + (column.left ? " left" : "");
    }

    function fit(text) {
        return onPaper ? text : nameFor(text, head.firstChild.clientWidth - 16, getComputedStyle(scroller).font);
    }

    function rowAt(at) {
        const row = el("div", {class: "row" + (at === active ? " active" : ""), role: "row", "aria-rowindex": at + 2,
            id: "row" + at, style: `top:${at * ROW_HEIGHT}px`, onclick: () => choose(at, true)});
        for (const column of shown)
            row.append(el("div", {class: cellClass(column), role: "gridcell"}, column.text(list[at], fit)));
        return row;
    }

    function draw() {
        if (!scroller.isConnected) // its rows belong to old data
            return;
        const first = onPaper ? 0 : Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - 5);
        const last = Math.min(list.length, onPaper ? PAPER_ROWS : first + Math.ceil(scroller.clientHeight / ROW_HEIGHT) + 10);
        rest.textContent = onPaper && last < list.length ? `and ${countText(list.length - last)} more ${label}` : "";
        body.style.height = (onPaper ? last : list.length) * ROW_HEIGHT + "px";
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
    for (const [event, paper] of [["paper", true], ["screen", false]])
        scroller.addEventListener(event, () => {
            onPaper = paper;
            drawHead();
            draw();
        });
    new ResizeObserver(() => {
        drawHead();
        draw();
    }).observe(scroller);

    /* The number of the active row; sets it where one is given. */
    scroller.activeRow = (at = active) => {
        active = Math.max(0, Math.min(at, list.length - 1));
        draw();
        return active;
    };

    scroller.update = (rows) => {
        list = rows;
        active = Math.min(active, Math.max(list.length - 1, 0));
        scroller.setAttribute("aria-rowcount", list.length + 1);
        scroller.style.height = `min(60vh, ${(list.length + 1) * ROW_HEIGHT + 18}px)`;
        drawHead();
        draw();
    };
    return scroller;
}
