/* Keeps the reader's state when newer data is drawn: scroll positions, what is unfolded, the focus, half-typed text.
   Elements are recognised by their purpose; some name it themselves in `keptAs`. */

const SCROLLED = ".scroller, .scroll-x, .source";

function keptName(element) {
    let owner = element;
    while (owner && !owner.keptAs)
        owner = owner.parentElement;
    const label = element.closest("label");
    return [owner ? owner.keptAs() : "", element.tagName, element.getAttribute("class"), element.dataset.key,
        owner === element ? "" : element.getAttribute("aria-label"), label && label.firstChild.textContent,
        /^(BUTTON|A|SUMMARY)$/.test(element.tagName) ? element.textContent.replace(/\d+/g, "") : ""].join("\n");
}

/* Finds the counterpart of an element: by its name, and by its place among elements of that name. */
function likeOf(element, css) {
    const name = keptName(element), all = () => [...document.querySelectorAll(css)].filter((other) => keptName(other) === name);
    const place = all().indexOf(element);
    return () => {
        const likes = all();
        return likes[Math.min(place, likes.length - 1)];
    };
}

function keptScroll(element) {
    const find = likeOf(element, SCROLLED), {scrollTop, scrollLeft} = element, row = element.activeRow && element.activeRow();
    return () => {
        const like = find();
        if (!like)
            return;
        like.scrollTop = scrollTop;
        like.scrollLeft = scrollLeft;
        if (like.activeRow)
            like.activeRow(row);
    };
}

function keptFold(element) {
    const find = likeOf(element, "details");
    return () => {
        const like = find();
        if (like)
            like.open = true;
    };
}

function keptFocus(element) {
    const find = likeOf(element, element.tagName), {value, selectionStart, selectionEnd} = element;
    return () => {
        const like = element.isConnected ? null : find();
        if (!like)
            return;
        like.focus({preventScroll: true});
        if (element.tagName !== "INPUT")
            return;
        like.value = value;
        if (selectionStart !== null)
            like.setSelectionRange(selectionStart, selectionEnd);
    };
}

/* Notes the state; the returned function restores it. */
function keepPlace() {
    const kept = [...main.querySelectorAll("details[open]")].map(keptFold);
    for (const element of main.querySelectorAll(SCROLLED))
        kept.push(keptScroll(element));
    const {scrollX, scrollY} = window, height = main.offsetHeight, focused = document.activeElement;
    if (focused && focused !== document.body)
        kept.push(keptFocus(focused));
    return () => {
        kept.forEach((restore) => restore());
        main.style.minHeight = height + "px"; // pictures have no height until they are drawn
        scrollTo(scrollX, scrollY);
        requestAnimationFrame(() => requestAnimationFrame(() => main.style.minHeight = ""));
    };
}
