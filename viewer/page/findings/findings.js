/* The findings: the run in one line, then a line for each finding, then a card for each. */

const SEVERITY_MARK = {leak: "▲", retention: "■", pressure: "◆", info: "●"};

function amountOf(finding) {
    return bytesText(finding.live_bytes || finding.peak_bytes || 0);
}

/* A finding in one line, which links to its card. */
function findingLine(finding, seek) {
    const place = (finding.kept_at || [])[0] || finding.frame;
    const open = (event) => {
        event.preventDefault();
        state.set({finding: finding.id}, true);
        seek(finding.id);
    };
    return el("li", {class: finding.severity}, el("a", {href: state.link("findings", {finding: finding.id}), onclick: open,
        title: finding.title}, el("span", {class: "mark-of"}, SEVERITY_MARK[finding.severity], " ", finding.id), " ",
    el("span", {class: "name"}, nameOf(finding.title)), " ", el("b", {}, amountOf(finding)), " ",
    el("code", {}, place ? nameOf(shortName(placeText(place).split("/").pop(), 34)) : "")));
}

/* No findings in only a few steps mean nothing. */
function nothingFound() {
    const {judged_steps: judged = 0, judged_steps_needed: needed = 0} = data.job;
    if (judged < needed)
        return `Too early to tell: growth shows in ${needed} ${stepUnit}s after the warm-up; this job has ${judged} so far.`;
    return "No leak found: no line keeps growing or holds more than it needs.";
}

function findingList(shown, pattern, seek) {
    const leftOut = d3.sum(Object.values(data.findings_left_out || {}));
    return [pattern ? el("p", {}, `Only ${pattern}. `, el("a", {href: "#findings"}, "Show all findings")) : null,
        shown.length ? el("ol", {class: "index"}, shown.map((finding) => findingLine(finding, seek)))
            : el("p", {class: "none"}, nothingFound(), " ", el("a", {href: "#timeline"}, "Open the timeline")),
        leftOut ? el("p", {class: "quiet"}, `This list leaves out ${plural(leftOut, "less severe finding")}.`) : null].filter(Boolean);
}

const findingsView = {
    name: "findings", title: "Findings",
    enter(root) {
        const memory = memoryWanted(), list = el("section", {"aria-label": "list of findings"}), cards = el("div", {class: "cards"});
        const strip = fitted((width) => windowStrip(width, memory));
        let listed = null, sought = "";
        const seek = (id) => {
            const card = document.getElementById("finding-" + id);
            if (card)
                card.scrollIntoView();
        };
        fill(root, {}, [jobFacts(), el("div", {class: "overview"}, el("div", {}, list, peakLines(memory)), strip), cards,
            nSites && !many ? inAll(memory) : null, notSeen()]);
        return () => {
            const pattern = state.get("pattern"), wanted = state.get("finding");
            if (pattern !== listed) {
                const shown = findings.filter((f) => !pattern || f.pattern === pattern);
                list.replaceChildren(...findingList(shown, pattern, seek));
                cards.replaceChildren(...shown.map(findingCard));
                listed = pattern;
            }
            if (wanted !== sought)
                seek(sought = wanted);
        };
    },
};
