/* How a value is distributed over processes: by powers of two, with those at both ends by name. */

const SMALL_HISTOGRAM = {width: 132, height: 26};

/* [{at_least, n}] as [[from, n], …]. */
const classesOf = (histogram) => histogram.map(({at_least: from, n}) => [from, n]);

const placeOfClass = (from) => from ? Math.round(Math.log2(from)) + 1 : 0;

/* As a picture in a line of text; a class of one process still has a bar that can be seen. */
function smallHistogram(histogram, measure) {
    const {width, height} = SMALL_HISTOGRAM, list = classesOf(histogram), most = d3.max(list, ([, n]) => n) || 1;
    const first = placeOfClass(list.length ? list[0][0] : 0), last = placeOfClass(list.length ? list[list.length - 1][0] : 0);
    const bar = Math.min(14, width / (last - first + 1));
    return svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, class: "small-histogram", role: "img",
        "aria-label": list.map(([from, n]) => `${countText(n)}: ${classText(measure, from)}`).join("; ")},
    svg("path", {class: "mark", d: `M0 ${height - 0.5}H${width}`}),
    list.map(([from, n]) => svg("rect", {x: (placeOfClass(from) - first) * bar, width: Math.max(1, bar - 1),
        y: height - Math.max(3, height * n / most), height: Math.max(3, height * n / most)},
    svg("title", {}, `${countText(n)}: ${classText(measure, from)}`))));
}

const NAMED_AT_ONCE = 3;

/* Those at one end, the outermost first. */
function namedProcesses(title, list, measure) {
    const line = (who) => el("li", {}, nameOf(placeOfProcess(who)), " ", el("b", {}, valueText(measure, who.value)));
    const more = list.slice(NAMED_AT_ONCE);
    return list.length ? [el("h4", {}, title), el("ul", {class: "plain"}, list.slice(0, NAMED_AT_ONCE).map(line)),
        more.length ? fold({class: "brief"}, `${countText(more.length)} more`, () => el("ul", {class: "plain"}, more.map(line))) : null] : null;
}

function distributionCard({of, role, processes: n, sum, histogram, most, least}) {
    const measure = rankMeasure(of), lowest = least && n > most.length ? least : []; /* else all are among the most */
    const ends = [namedProcesses("most", most, measure), namedProcesses("least", lowest, measure)];
    const isOne = n > 1 && most.length > 0 && lowest.length > 0 && most[0].value === lowest[0].value;
    return el("section", {class: "process distribution", "aria-label": `${measure.name}, ${rolesText(role, 2)}`},
        el("h3", {}, nameOf(measure.name), " ", el("span", {class: "quiet"}, countOfRole(role, n))),
        el("p", {}, isOne ? valueText(measure, most[0].value) + " in each" : valueText(measure, sum / n) + " on average"),
        isOne ? null : [classBars(["", rolesText(role, 2)], classesOf(histogram), (from) => classText(measure, from)),
            el("div", {class: "named"}, (measure.low ? ends.reverse() : ends).map((end) => end && el("div", {}, end)))]);
}

/* Ranks and trainers first, each measure in its order, then spaces. */
function distributionCards() {
    const roles = ["rank", "trainer", "loader-worker", "helper"], measures = Object.keys(RANK_MEASURES);
    const place = ({role, of}) => 1000 * roles.indexOf(role) + (measures.indexOf(of) + 1 || 100);
    return [...many.distributions].filter(({sum}) => sum > 0).sort((a, b) => place(a) - place(b)).map(distributionCard);
}
