/* The page of a look. */

const lookViews = [lookView];

function subjectText({core, pid}) {
    const process = [pid ? `process ${pid}` : "", whenText(looked.looks[0])];
    return [...core ? [`core file ${core.file}, ${bytesText(core.bytes)}`] : [], ...process].filter(Boolean).join(", ");
}

begin({
    views: () => lookViews, name: () => programOf(looked.command, 80), searched: "holders",
    head() {
        const what = " " + subjectText(looked);
        return {title: cutText(looked.command, 1000) + what, line: [commandOf(looked.command.split(" "), 200), el("span", {class: "quiet"}, what)]};
    },
    keys: () => [
        ["/", "search by name and type"],
        ["Tab", "from one control to the next"],
        ["arrows", "in the picture: the box above, the boxes below, neighbours; in the table: rows"],
        ["Enter", "zoom to the box; open the row"],
        ["[ ]", "the look before, the next one"],
        ["Esc", "zoom out; leave the search; close this"],
    ],
    press(key) {
        const subject = subjectWanted(), k = lookWanted(subject) + {"[": -1, "]": 1}[key];
        if (subject.looks[k])
            state.set({look: k + 1});
        return key === "[" || key === "]";
    },
    started: () => {},
});
