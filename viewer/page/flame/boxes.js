/* Boxes in rows, each below the one that it is a part of: what keys and the pointer do there. */

const FRAME_HEIGHT = 22;

/* The arrow keys: up and down the stack, left and right to neighbours. */
function moveIn(boxes, at, key, upward) {
    const box = boxes[at];
    if (key === (upward ? "ArrowDown" : "ArrowUp"))
        return boxes.findIndex((b) => b.node === box.node.parent);
    if (key === (upward ? "ArrowUp" : "ArrowDown"))
        return boxes.findIndex((b) => b.node.parent === box.node);
    const row = boxes.map((b, i) => i).filter((i) => boxes[i].depth === box.depth).sort((a, b) => boxes[a].x - boxes[b].x);
    return row[row.indexOf(at) + (key === "ArrowRight" ? 1 : -1)] ?? -1;
}

/* Handles keys and the pointer for the boxes of a picture. */
function listenTo(picture, boxes, drawn, {root, zoomed, zoom, tell, look, upward}) {
    let active = Math.max(0, boxes.findIndex((box) => box.node === zoomed));
    const take = (at) => {
        drawn[active].setAttribute("tabindex", "-1");
        active = at;
        drawn[active].setAttribute("tabindex", "0");
    };
    take(active);
    const acts = {Enter: () => zoom(boxes[active].node, true), Escape: () => zoom(zoomed.parent || root, true),
        c: () => look.pick && look.pick(boxes[active].node)};
    picture.addEventListener("keydown", (event) => {
        const act = acts[{" ": "Enter", Backspace: "Escape"}[event.key] || event.key];
        if (event.ctrlKey || event.altKey || event.metaKey || !act && !event.key.startsWith("Arrow"))
            return;
        event.preventDefault();
        if (act)
            act();
        else
            drawn[moveIn(boxes, active, event.key, upward)]?.focus();
    });
    picture.addEventListener("focusin", (event) => {
        const at = drawn.indexOf(event.target);
        if (at >= 0) {
            take(at);
            tell(boxes[at].node);
        }
    });
    picture.addEventListener("mousemove", (event) => {
        const at = drawn.indexOf(event.target.closest("g.frame"));
        if (at >= 0)
            look.card.show(event, look.facts(boxes[at].node));
        else
            look.card.hide();
    });
    picture.addEventListener("mouseleave", look.card.hide);
}

/* A card beside the pointer, never under it. */
function readout() {
    const card = el("div", {class: "readout", hidden: true, "aria-hidden": "true"});
    card.show = (event, {name, where, source, facts}) => {
        card.hidden = false;
        card.replaceChildren(el("b", {}, nameOf(cutText(name, 200))), where ? el("div", {class: "quiet"}, nameOf(where)) : "",
            source ? el("code", {}, nameOf(cutText(source, 200))) : "",
            ...facts.map((fact) => el("div", {}, fact)));
        const left = event.clientX + 14, top = event.clientY + 18, {offsetWidth: width, offsetHeight: height} = card;
        card.style.left = Math.max(4, left + width > innerWidth - 4 ? event.clientX - width - 10 : left) + "px";
        card.style.top = Math.max(4, top + height > innerHeight - 4 ? event.clientY - height - 10 : top) + "px";
    };
    card.hide = () => card.hidden = true;
    return card;
}
