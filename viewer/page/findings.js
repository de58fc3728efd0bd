/* What was found, told as a person would: what and where, how much, until when, what to do, who holds it. */

const SEVERITY_MARK = {leak: "▲", retention: "■", pressure: "◆", info: "●"};

/* "grows by 64.0 KiB every step since step 3, to the end" */
function courseText(finding) {
    const growth = finding.growth_bytes_per_step.value;
    const since = finding.first_step > 0 ? ` since ${stepUnit} ${finding.first_step}` : " from the beginning";
    if (finding.pattern === "out-of-memory")
        return `in ${stepUnit} ${finding.first_step}`;
    if (finding.plateau_step !== null)
        return `rose${since} until ${stepUnit} ${finding.plateau_step}, and has been kept since`;
    if (growth > 0 && finding.growth_bytes_per_step.low > 0)
        return `grows by ${bytesText(growth)} every ${stepUnit}${since}, to the end`;
    return `is there${since}`;
}

function amountText(finding) {
    if (!finding.live_bytes && finding.peak_bytes)
        return `${bytesText(finding.peak_bytes)} at most`;
    return `${bytesText(finding.live_bytes)} kept` + (finding.count ? ` in ${plural(finding.count, "block")}` : "");
}

/* The line with the most to say first: whoever puts the memory by, if that is known. */
function keptAt(finding) {
    return (finding.kept_at || []).map((place) => el("div", {},
        el("p", {}, "Kept at ", el("code", {}, nameOf(placeText(place))), place.function === "<module>" ? "" : " in ",
            place.function === "<module>" ? null : el("code", {}, nameOf(functionText(place))), ":"),
        sourceLines(place) || el("pre", {class: "source"}, nameOf(place.text))));
}

function holdersOf(finding) {
    const holders = finding.holders;
    if (!holders || !holders.paths || !holders.paths.length)
        return [];
    const length = holders.length && holders.length.length > 1 ? holders.length : null;
    return [el("dt", {}, "Who holds it"), el("dd", {},
        el("ul", {class: "plain"}, holders.paths.slice(0, 4).map((path) => el("li", {},
            el("code", {class: "path"}, nameOf(path.text)), ` ${bytesText(path.bytes)} in ${plural(path.blocks, "block")}`))),
        length ? el("p", {class: "quiet"}, `its length went from ${countText(length[0][1])} to ` +
            `${countText(length[length.length - 1][1])} between ${stepUnit}s ${length[0][0]} and ${length[length.length - 1][0]}`)
            : null)];
}

function whoText(finding) {
    const known = finding.processes.slice(0, 4).map((pid) => {
        const process = processes.find((p) => p.pid === pid);
        return `${process ? processName(process) : "process"} ${pid}`;
    });
    const more = finding.processes.length - known.length;
    return known.join(", ") + (more > 0 ? ` and ${plural(more, "more", "more")}` : "");
}

function findingSparkline(finding) {
    const numbers = finding.sites.map((id) => siteNumber.get(id)).filter((i) => i !== undefined);
    const steps = [...new Set([0, ...numbers.flatMap((i) => seriesOf(i).step), lastStep])].filter((s) => s >= 0 && s <= lastStep)
        .sort((a, b) => a - b);
    const sum = levelsOf(numbers, steps);
    if (steps.length < 2 || !numbers.length)
        return null;
    return fitted((width) => {
        const chart = chartOf(width, 124, [0, lastStep || 1], d3.max(sum), true);
        drawAreas(chart, steps, [{name: finding.title, values: sum, index: 0}]);
        drawAxes(chart, countText, Math.max(2, width / 90), 3, stepUnit);
        chart.root.setAttribute("aria-label", `live bytes by ${stepUnit}, ${bytesText(sum[sum.length - 1])} at the end`);
        return chart.root;
    });
}

function findingCard(finding) {
    const place = finding.frame;
    const id = "finding-" + finding.id;
    const card = el("article", {class: "finding " + finding.severity, id, "aria-labelledby": id + "-title", tabindex: "-1"},
        el("h2", {id: id + "-title"}, el("span", {class: "badge"}, SEVERITY_MARK[finding.severity], " ", finding.severity), " ",
            nameOf(finding.title)),
        el("p", {class: "where"}, el("span", {class: "quiet"}, finding.id, " "), el("code", {}, nameOf(placeText(place))),
            functionText(place) ? [" in ", el("code", {}, nameOf(functionText(place)))] : null,
            el("a", {class: "tag", href: "#findings?pattern=" + finding.pattern}, finding.pattern)),
        sourceLines(place),
        el("div", {class: "told"},
            el("dl", {},
                el("dt", {}, "How much"), el("dd", {}, `${amountText(finding)}, in ${finding.space}`,
                    finding.saving_bytes ? `; a fix saves ${bytesText(finding.saving_bytes)} of a run like this` : "",
                    finding.limit_bytes && finding.steps_to_limit !== null
                        ? `; the limit of ${bytesText(finding.limit_bytes)} is reached in ${plural(finding.steps_to_limit, stepUnit)}`
                        : ""),
                finding.confidence_word ? [el("dt", {}, "How sure"), el("dd", {}, finding.confidence_word)] : null,
                el("dt", {}, "When"), el("dd", {}, courseText(finding)),
                el("dt", {}, "In"), el("dd", {}, whoText(finding)),
                el("dt", {}, "To do"), el("dd", {class: "advice"}, nameOf(finding.advice)),
                holdersOf(finding)),
            findingSparkline(finding)),
        keptAt(finding),
        finding.evidence.length ? el("details", {}, el("summary", {}, `Evidence (${finding.evidence.length})`),
            el("ul", {}, finding.evidence.map((text) => el("li", {}, nameOf(text))))) : null,
        el("p", {class: "links"},
            el("a", {href: state.link("timeline", {by: "finding", memory: memoryOf(finding.space)})}, "its course"),
            finding.sites.length ? el("a", {href: state.link("flame", {memory: memoryOf(finding.space), finding: finding.id})},
                "its stacks") : null,
            finding.sites.length ? el("a", {href: state.link("sites", {finding: finding.id})}, "its sites") : null,
            layoutOf(finding.space) !== null ? el("a", {href: "#device?layout=" + layoutOf(finding.space)}, "how the device lay") : null));
    card.keptAs = () => findingNames(finding)[1];
    return card;
}

/* Of the space that was fullest of what is looked at: its peak, which leads to whose memory that was, and its totals. */
function spaceFacts(memory) {
    const own = Object.entries(data.spaces).filter(([space]) => memoryOf(space) === memory);
    const [space, sums] = own[d3.scan(own, ([, a], [, b]) => b.peak_bytes - a.peak_bytes)] || ["", null];
    return sums ? [el("li", {}, el("b", {}, bytesText(sums.peak_bytes)), ` of ${space} `,
        el("a", {href: state.link("flame", {memory, window: "peak", measure: "live"})}, "at its peak"), `, ${stepUnit} ${sums.peak_step}`),
    el("li", {}, el("b", {}, bytesText(sums.allocated_bytes)), ` of it allocated in all, ${plural(sums.allocations, "allocation")}`)] : [];
}

/* Lines by what `of` says of their sites, the most first, as text. */
function topLines(memory, of, most, text) {
    const sums = new Float64Array(frames.name.length);
    for (const i of sitesIn(memory))
        if (sites.look_at[i] >= 0)
            sums[sites.look_at[i]] += of(i);
    const top = []; /* a few of very many: not sorted */
    sums.forEach((sum, f) => {
        if (sum > 0 && (top.length < most || sum > sums[top[most - 1]])) {
            top.splice(d3.bisector((g) => -sums[g]).right(top, -sum), 0, f);
            top.length = Math.min(top.length, most);
        }
    });
    return top.map((f, n) => [n ? ", " : "", el("code", {}, nameOf(cutText(shortFrameText(f), 100))), " " + text(sums[f])]);
}

/* Bytes that were freed within the step that made them, by the average of the site. */
function briefBytes(i) {
    const raw = sites.lifetimes[i], atOnce = raw.length ? (raw[0] === 0 ? raw[1] : 0) : sites.age_max[i] === 0 ? sites.frees[i] : 0;
    return sites.allocations[i] ? sites.allocated_bytes[i] * Math.min(1, atOnce / sites.allocations[i]) : 0;
}

/* Who allocated most in all, and in which sizes; made when it is unfolded. */
function inAll(memory) {
    const place = el("div");
    const draw = () => place.childElementCount || place.append(el("ul", {},
        el("li", {}, "most bytes: ", topLines(memory, (i) => sites.allocated_bytes[i], 5, bytesText)),
        el("li", {}, "most often: ", topLines(memory, (i) => sites.allocations[i], 5, (n) => plural(n, "time"))),
        el("li", {}, `freed within their ${stepUnit}: `, topLines(memory, briefBytes, 5, bytesText))),
    el("h3", {}, "Sizes"), ...sizesOf(sitesIn(memory)));
    return el("details", {class: "in-all", ontoggle: draw}, el("summary", {}, "What was allocated in all: lines and sizes"), place);
}

/* Whose it was when most was live, and what was allocated in all. */
function lineFacts(memory) {
    const step = highestStep(memory), atPeak = topLines(memory, (i) => levelAt(i, step), 3, bytesText);
    return [atPeak.length ? el("p", {class: "at-peak"}, `When ${memory === HOST ? "the host" : memory} held most, ` +
        `after ${stepUnit} ${step}: `, atPeak) : null, nSites ? inAll(memory) : null];
}

function jobFacts() {
    const failed = processes.filter((p) => p.exit.kind === "signal" || p.exit.kind === "exit" && p.exit.value);
    const rss = d3.max(timeline.rss_bytes) || 0;
    return el("ul", {class: "facts"},
        el("li", {}, el("b", {}, plural(job.steps, stepUnit)), job.epochs ? ` in ${plural(job.epochs, "epoch")}` : ""),
        el("li", {}, el("b", {}, secondsText(job.duration_s)), job.complete ? "" : ", not complete"),
        el("li", {}, el("b", {}, plural(processes.length, "process", "processes")),
            failed.length ? `, ${failed.length} failed` : ""),
        el("li", {}, el("b", {}, bytesText(rss)), " resident at most",
            job.limit_bytes ? ` of ${bytesText(job.limit_bytes)} (${job.limit_kind})` : ""),
        spaceFacts(memoryWanted()));
}

/* What the recording could not see, folded. */
function notSeen() {
    const list = data.coverage.not_seen;
    return list.length ? el("details", {}, el("summary", {}, `Not seen (${list.length})`),
        el("ul", {}, list.map((text) => el("li", {}, nameOf(text))))) : null;
}

/* That nothing was found in a few steps says nothing. */
function nothingFound() {
    const {judged_steps: judged = 0, judged_steps_needed: needed = 0} = data.job;
    if (judged < needed)
        return `Too early to tell: growth shows in ${needed} ${stepUnit}s after the warm-up; so far there are ${judged}.`;
    return "Nothing was found: no line's memory grows with the steps, and none keeps what it need not.";
}

const findingsView = {
    name: "findings", title: "Findings",
    enter(root) {
        const cards = el("div", {class: "cards"});
        const strip = fitted((width) => windowStrip(width, memoryWanted()));
        fill(root, {}, [jobFacts(), strip, lineFacts(memoryWanted()), cards, notSeen()]);
        return () => {
            const pattern = state.get("pattern");
            const shown = findings.filter((f) => !pattern || f.pattern === pattern);
            const leftOut = d3.sum(Object.values(data.findings_left_out || {}));
            const notes = [];
            if (pattern)
                notes.push(el("p", {}, `Only ${pattern}. `, el("a", {href: "#findings"}, "Show all findings")));
            if (!shown.length)
                notes.push(el("p", {class: "none"}, nothingFound(), " ", el("a", {href: "#timeline"}, "See how the memory went")));
            if (leftOut)
                notes.push(el("p", {}, plural(leftOut, "further finding") + " less severe are only counted."));
            cards.replaceChildren(...notes, ...shown.map(findingCard));
            const wanted = state.get("finding") && document.getElementById("finding-" + state.get("finding"));
            if (wanted)
                wanted.scrollIntoView();
        };
    },
};
