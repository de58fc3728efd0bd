/* What the reader has stays over a drawing of newer data: where things are scrolled to, what is unfolded, where the focus
   is, what is half typed. Elements are told by what they are for; those that say so themselves have `keptAs`. */

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

/* Finds the like of an element among others of its kind: by its name and its place among its namesakes. */
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

/* Notes what there is; what it returns brings it back. */
function keepPlace() {
    const kept = [...main.querySelectorAll("details[open]")].map(keptFold);
    for (const element of main.querySelectorAll(SCROLLED))
        kept.push(keptScroll(element));
    const {scrollX, scrollY} = window, height = main.offsetHeight, focused = document.activeElement;
    if (focused && focused !== document.body)
        kept.push(keptFocus(focused));
    return () => {
        kept.forEach((restore) => restore());
        main.style.minHeight = height + "px"; // pictures take their room when they are drawn
        scrollTo(scrollX, scrollY);
        requestAnimationFrame(() => requestAnimationFrame(() => main.style.minHeight = ""));
    };
}
