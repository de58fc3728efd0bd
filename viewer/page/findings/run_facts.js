/* The run in numbers, and what its memory was used for: stands beside the findings. */

const spacesIn = (memory) => Object.entries(data.spaces).filter(([space]) => memoryOf(space) === memory);

/* A memory's peak: of the host, its spaces together after the highest step, since their own peaks are at different moments;
   of a device, the true peak of its one space. Links to the lines that held that memory, which add up to it. */
function peakFact(memory) {
    const step = highestStep(memory), [[space, sums] = []] = spacesIn(memory);
    if (!sums)
        return null;
    const link = el("a", {href: state.link("flame", {memory, window: "peak", measure: "live"})}, "at its peak");
    return memory === HOST
        ? el("li", {}, el("b", {}, bytesText(d3.sum(weights(memory, "live", {to: step}, "")))), ` of ${memoryName(memory)} live `, link,
            `, after ${stepUnit} ${step}`)
        : el("li", {}, el("b", {}, bytesText(sums.peak_bytes)), ` ${spaceText(space)} `, link, ", " + stepText(sums.peak_step));
}

/* The top lines by what `of` returns for their sites, as text. */
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
    return top.map((f, n) => [n ? ", " : "", el("code", {}, nameOf(shortName(shortFrameText(f), 60), {title: frame.text(f)})), " " + text(sums[f])]);
}

/* The lines that allocated most in total, and in which sizes; made when unfolded. */
function inAll(memory) {
    const sums = (key) => d3.sum(spacesIn(memory), ([, of]) => of[key]);
    return fold({class: "in-all"}, `Allocated in total, freed or not: ${bytesText(sums("allocated_bytes"))} of ${memoryName(memory)} in ` +
        plural(sums("allocations"), "allocation"),
    () => [el("ul", {},
        el("li", {}, "most bytes: ", topLines(memory, (i) => sites.allocated_bytes[i], 5, bytesText)),
        el("li", {}, "most often: ", topLines(memory, (i) => sites.allocations[i], 5, (n) => plural(n, "time"))),
        el("li", {}, `freed within their ${stepUnit}: `, topLines(memory, temporaryBytes, 5, bytesText))),
    el("h3", {}, "Sizes"), ...sizesOf(sitesIn(memory))]);
}

/* The lines that held most at the peak. */
function peakLines(memory) {
    const step = highestStep(memory), top = topLines(memory, (i) => levelAt(i, step), 3, bytesText);
    return top.length ? el("p", {class: "at-peak"}, `Most of ${memoryName(memory)} at its peak, after ${stepUnit} ${step}: `, top) : null;
}

/* RSS counts pages that several processes share once for each of them; PSS splits them, so it comes first. */
function residentFact() {
    const rss = (data.coverage.rss || {}).highest_bytes || d3.max(timeline.rss_bytes) || 0;
    const of = job.limit_bytes ? ` of ${bytesText(job.limit_bytes)} (${job.limit_kind})` : "";
    if (processes.length > 1 && job.pss_peak_bytes)
        return el("li", {title: "PSS splits a shared page among its processes; RSS counts it in each of them"},
            "PSS peak ", el("b", {}, bytesText(job.pss_peak_bytes)), `${of}; RSS peak ${bytesText(rss)}`);
    return rss ? el("li", {}, "RSS peak ", el("b", {}, bytesText(rss)), of) : null;
}

function jobFacts() {
    if (many)
        return manyFacts();
    const failed = processes.length > 1 ? processes.filter(isFailed).length : 0;
    return el("ul", {class: "facts"},
        el("li", {}, el("b", {}, plural(job.steps, stepUnit)), job.epochs ? ` in ${plural(job.epochs, "epoch")}` : ""),
        el("li", {}, el("b", {}, secondsText(job.duration_s)), job.exit && job.exit.text
            ? [", ", el("span", {class: isFailed(job) ? "bad" : null}, exitText(job))] : job.complete ? "" : ", incomplete"),
        el("li", {}, el("b", {}, plural(processes.length, "process", "processes")), failed ? `, ${failed} failed` : ""),
        residentFact(), peakFact(memoryWanted()));
}

/* What the recording could not see; folded. */
function notSeen() {
    const list = data.coverage.not_seen;
    return list.length ? el("details", {}, el("summary", {}, `Not seen (${list.length})`),
        el("ul", {}, list.map((text) => el("li", {}, nameOf(text))))) : null;
}
