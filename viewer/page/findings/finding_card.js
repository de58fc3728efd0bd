/* One finding in plain words: which line to change, which one allocated the memory, how much, until when, what to do, what
   holds it. */

/* "grows by 64.0 KiB a step since step 3, to the end" */
function courseText(finding) {
    const growth = finding.growth_bytes_per_step.value;
    const since = finding.first_step > 0 ? ` since ${stepUnit} ${finding.first_step}` : " from the beginning";
    if (finding.pattern === "out-of-memory")
        return `in ${stepUnit} ${finding.first_step}`;
    if (finding.plateau_step !== null)
        return `grew${since} until ${stepUnit} ${finding.plateau_step}, then levelled off`;
    if (growth > 0 && finding.growth_bytes_per_step.low > 0)
        return `grows by ${bytesText(growth)} a ${stepUnit}${since}, to the end`;
    return `live${since}`;
}

function amountText(finding) {
    if (!finding.live_bytes && finding.peak_bytes)
        return `at most ${bytesText(finding.peak_bytes)} ${spaceText(finding.space)}`;
    return `${bytesText(finding.live_bytes)} ${spaceText(finding.space)} kept` + (finding.count ? ` in ${plural(finding.count, "block")}` : "");
}

/* The line to change first: the one that keeps the memory, where known; then the one that allocated it. If a reference was
   never given back: the calls that may have taken it. */
function findingPlaces(finding) {
    const places = (finding.kept_at || []).map((place) => ({place, what: "Kept at"}));
    const both = places.find(({place}) => isSameLine(place, finding.frame));
    if (both)
        both.what = "Allocated and kept at";
    else
        places.push({place: finding.frame, what: finding.pattern === "out-of-memory" ? "Requested at" : "Allocated at",
                     caller: callerText(finding.native_caller)});
    return places.concat((finding.passed_at || []).map((place) => ({place, what: "Goes to"})));
}

/* Nobody wrote a line for what a library's own thread does. */
function callerText(caller) {
    if (!caller)
        return "";
    const whose = [caller.package, caller.version].filter((text) => text).join(" ");
    return ` (${whose ? whose + ", " : ""}in a thread without Python)`;
}

function placeLine({place, what, caller}, offer) {
    const name = place && place.function !== "<module>" && functionText(place);
    const text = el("code", {}, nameOf(placeText(place)));
    return el("p", {class: "where"}, place ? [what + " ", inEditor(place.file, place.line, text)] : text,
        name ? [" in ", el("code", {}, nameOf(name))] : null, caller || null, offer || null);
}

/* Each line with its source; lines close to each other share an excerpt. */
function findingLines(finding) {
    const places = findingPlaces(finding), {place: first} = places[0];
    const offer = finding === findings[0] && first ? editorOffer(first.file) : null;
    return snippetsOf(places.map(({place}) => place)).map(({own, excerpt}) => el("div", {class: "lines"},
        own.map((n) => placeLine(places[n], n ? null : offer)), excerpt && sourceLines(excerpt)));
}

function holdersOf(finding) {
    const holders = finding.holders;
    if (!holders || !holders.paths || !holders.paths.length)
        return [];
    return [el("dt", {}, "Who holds it"), el("dd", {},
        el("ul", {class: "plain"}, holders.paths.slice(0, 4).map((path) => el("li", {},
            el("code", {class: "path"}, nameOf(path.text)), ` ${bytesText(path.bytes)} in ${plural(path.blocks, "block")}`))),
        el("p", {class: "quiet seen"}, `snapshot at ${stepUnit} ${holders.step}` + lengthText(holders.length || [])))];
}

/* The holder's length in the first and in the last look. */
function lengthText(looks) {
    if (looks.length < 2)
        return "";
    const [[from, before], [to, after]] = [looks[0], looks[looks.length - 1]];
    if (before === after)
        return `; its length was ${countText(after)} from ${stepUnit} ${from} to ${to}`;
    return `; its length went from ${countText(before)} to ${countText(after)} between ${stepUnit}s ${from} and ${to}`;
}

function whoText(finding) {
    if (finding.spread)
        return spreadText(finding.spread);
    const known = finding.processes.slice(0, 4).map((pid) => {
        const process = processes.filter((p) => p.pid === pid).pop(); /* after an exec several entries share the pid: the
                                                                         last one is current */
        return `${process ? processName(process) : "process"} ${pid}`;
    });
    const more = finding.processes.length - known.length;
    return known.join(", ") + (more > 0 ? ` and ${plural(more, "more", "more")}` : "");
}

/* Live memory of its sites. That is not all of a finding: pages that a fork has copied, for example, have no site. */
function findingSparkline(finding) {
    const numbers = sitesOf(finding);
    const steps = [...new Set([0, ...numbers.flatMap((i) => seriesOf(i).step), lastStep])].filter((s) => s >= 0 && s <= lastStep)
        .sort((a, b) => a - b);
    const sum = levelsOf(numbers, steps);
    if (steps.length < 2 || !numbers.length)
        return null;
    const picture = fitted((width) => {
        const chart = chartOf(width, 124, [0, lastStep || 1], d3.max(sum), true);
        drawAreas(chart, steps, [{name: finding.title, values: sum, index: spaceIndex(finding.space)}]);
        drawAxes(chart, countText, Math.max(2, width / 90), 3, stepUnit);
        chart.root.setAttribute("aria-label", `live bytes by ${stepUnit}, ${bytesText(sum[sum.length - 1])} at the end`);
        return chart.root;
    });
    return el("figure", {}, picture, el("figcaption", {class: "quiet"}, "Live memory allocated here"));
}

/* Of many processes. */
function findingHistogram({spread}) {
    return spread && spread.processes > 1 ? classBars(["kept by one", rolesText(spread.role, 2)], classesOf(spread.histogram), sizeClassText) : null;
}

function findingCard(finding) {
    const id = "finding-" + finding.id;
    const card = el("article", {class: "finding " + finding.severity, id, "aria-labelledby": id + "-title", tabindex: "-1"},
        el("h2", {id: id + "-title"}, el("span", {class: "badge"}, SEVERITY_MARK[finding.severity], " ", finding.severity), " ",
            el("span", {class: "quiet"}, finding.id), " ", nameOf(finding.title), " ",
            el("a", {class: "tag", href: "#findings?pattern=" + finding.pattern}, finding.pattern)),
        findingLines(finding),
        el("div", {class: "told"},
            el("dl", {},
                el("dt", {}, "To do"), el("dd", {class: "advice"}, withFindingLinks(finding.advice)),
                el("dt", {}, "How much"), el("dd", {}, amountText(finding),
                    finding.saving_bytes ? `; fixing it saves about ${bytesText(finding.saving_bytes)} in a run like this one` : "",
                    finding.limit_bytes && finding.steps_to_limit !== null
                        ? `; at this pace it reaches the limit of ${bytesText(finding.limit_bytes)} in ${plural(finding.steps_to_limit, stepUnit)}`
                        : ""),
                el("dt", {}, "When"), el("dd", {}, courseText(finding)),
                el("dt", {}, "In"), el("dd", {}, whoText(finding)),
                holdersOf(finding),
                finding.confidence_word ? [el("dt", {}, "How sure"), el("dd", {}, finding.confidence_word)] : null),
            findingSparkline(finding) || findingHistogram(finding)),
        finding.evidence.length ? el("details", {}, el("summary", {}, `Evidence (${finding.evidence.length})`),
            el("ul", {}, finding.evidence.map((text) => el("li", {}, withFindingLinks(text))))) : null,
        el("p", {class: "links"},
            el("a", {href: courseOfFinding(finding)}, "Timeline"),
            finding.sites.length ? el("a", {href: flameOf(finding)}, "Flame graph") : null,
            finding.sites.length ? el("a", {href: state.link("sites", {finding: finding.id})}, "Table") : null,
            layoutOf(finding.space) !== null ? el("a", {href: "#device?layout=" + layoutOf(finding.space)}, "Device") : null));
    card.keptAs = () => findingNames(finding)[1];
    return card;
}
