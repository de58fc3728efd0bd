/* Two runs of a job side by side: which findings vanished, remain or are new; how much each space held, and when. */

const STATE_MARK = {vanished: "−", remains: "=", new: "+"};
const VERDICTS = {fixed: "fixed", "not-fixed": "not fixed"};

function verdictText() {
    if (comparison.verdict)
        return [el("b", {}, VERDICTS[comparison.verdict] || comparison.verdict), ": ", nameOf(comparison.why)];
    return [el("b", {}, "not judged"), ": ", nameOf(comparison.why_not || "seep cannot judge these runs"),
        ". The list below only says which run has which finding."];
}

function runText(of) {
    return `${plural(of.steps, of.step_source === "time" ? "time slice" : "step")} in ${secondsText(of.duration_s)}` +
        (of.complete ? "" : ", incomplete");
}

function runsList() {
    return el("ul", {class: "facts runs"}, [["BASE", comparison.job], ["NEW", job]].map(([name, of]) => el("li", {},
        el("b", {}, name), " ", commandOf(of.command, 120), el("br"),
        el("span", {class: "quiet"}, `${new Date(1000 * of.started_unix_s).toLocaleString()}, ${runText(of)}`))));
}

/* "73.8 MiB kept, grows by 64.0 KiB a step" */
function findingAmounts(finding) {
    const growth = finding.growth_bytes_per_step.value;
    return amountText(finding) + (growth >= 0.5 ? `, grows by ${bytesText(growth)} a ${stepUnit}` : "");
}

function comparedFinding(row) {
    const after = findings.find((f) => f.id === row.after);
    const shown = row.state === "vanished" ? row.before : after || row.before;
    if (!shown)
        return null;
    return el("li", {class: "compared " + row.state},
        el("p", {}, el("span", {class: "badge"}, STATE_MARK[row.state], " ", row.state), " ", nameOf(shown.title)),
        el("p", {class: "where"}, el("code", {}, nameOf(placeText(shown.frame))),
            functionText(shown.frame) ? [" in ", el("code", {}, nameOf(functionText(shown.frame)))] : null,
            el("span", {class: "tag quiet"}, shown.pattern, ", ", nameOf(shown.space))),
        el("dl", {},
            row.before ? [el("dt", {}, "before"), el("dd", {}, findingAmounts(row.before))] : null,
            after ? [el("dt", {}, "after"), el("dd", {}, findingAmounts(after),
                after.pattern === shown.pattern ? " " : `: ${after.pattern} (${after.severity}) `,
                el("a", {href: "#findings?finding=" + encodeURIComponent(after.id)}, "finding " + after.id))] : null));
}

function comparedFindings() {
    const list = ["new", "remains", "vanished"].flatMap((state) => comparison.findings.filter((row) => row.state === state));
    return list.length ? el("ul", {class: "plain"}, list.map(comparedFinding))
        : el("p", {class: "none"}, "Neither run has a finding.");
}

/* Cells of one number in both runs, and its change; empty where a run does not have the space. */
function comparedCells(before, after) {
    const cell = (value, text) => el("td", {}, value === null ? "" : text(value));
    return [cell(before, bytesText), cell(after, bytesText), cell((after || 0) - (before || 0), signedText)];
}

function comparedSpaces() {
    const growth = (side) => side && side.growth_bytes_per_step ? side.growth_bytes_per_step.value : null;
    const heads = ["BASE", "NEW", "change"];
    return el("div", {class: "scroll-x", tabindex: "0", role: "region", "aria-label": "spaces of both runs"}, el("table", {class: "spaces"},
        el("thead", {},
            el("tr", {}, el("td"), el("th", {scope: "colgroup", colspan: 3}, "peak"),
                el("th", {scope: "colgroup", colspan: 3}, `growth a ${stepUnit}`)),
            el("tr", {}, ["space", ...heads, ...heads].map((text) => el("th", {scope: "col"}, text)))),
        el("tbody", {}, comparison.spaces.map(({space, before, after}) => el("tr", {}, el("th", {scope: "row"}, nameOf(space)),
            comparedCells(before && before.peak_bytes, after && after.peak_bytes), comparedCells(growth(before), growth(after)))))));
}

function savingText(saving) {
    return `${saving.space}: the fix was predicted to save ${bytesText(saving.predicted_bytes)}; the peak changed by ` +
        `${signedText(-saving.measured_bytes)}`;
}

function comparedNotes() {
    const list = [...(comparison.savings || []).map(savingText), ...(comparison.notes || [])];
    return list.length ? [el("h2", {}, "Notes"), el("ul", {}, list.map((text) => el("li", {}, nameOf(text))))] : [];
}

const comparisonView = {
    name: "comparison", title: "Comparison",
    enter(root) {
        fill(root, {}, [el("p", {class: "verdict"}, verdictText()), runsList(),
            el("h2", {}, "Findings"), comparedFindings(),
            el("h2", {}, "Spaces"), comparedSpaces(), courses(), comparedNotes(),
            el("p", {class: "links"}, el("a", {href: "#changes"}, "Which lines changed"),
                el("a", {href: "#difference"}, "Which call paths changed"))]);
        return () => {};
    },
};
