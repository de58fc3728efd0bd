/* All sites as a table, and what is known of one. */

const numberColumn = (key, title, width, of, wide) =>
    ({key, title, width, wide, value: (i) => of(i) ?? -1, text: (i) => of(i) === null ? "" : of(i)});
const bytesColumn = (key, title, width, wide) =>
    ({...numberColumn(key, title, width, (i) => sites[key][i], wide), text: (i) => bytesText(sites[key][i] || 0)});

const SITE_COLUMNS = [
    {key: "line", title: "line", left: true, value: (i) => lineOrder(sites.look_at[i]),
        text: (i) => nameOf(cutText(site.shortTitle(i), 200), {title: site.title(i)})},
    {key: "space", title: "space", width: 88, wide: true, value: site.space, text: (i) => site.space(i)},
    {key: "role", title: "role", width: 104, wide: true, value: site.role, text: (i) => site.role(i)},
    bytesColumn("retained_bytes", "kept", 104),
    bytesColumn("live_bytes", "live at end", 104, true),
    bytesColumn("peak_bytes", "peak", 104, true),
    {...bytesColumn("growth", "growth/step", 116), text: (i) => bytesText(Math.abs(sites.growth[i]) < 0.5 ? 0 : sites.growth[i])},
    bytesColumn("allocated_bytes", "allocated", 104, true),
    {...numberColumn("allocations", "allocations", 108, (i) => sites.allocations[i], true), text: (i) => countText(sites.allocations[i])},
    numberColumn("age_p50", "median age", 104, (i) => sites.age_p50[i], true),
    {key: "finding", title: "finding", width: 76, wide: true, value: (i) => findingOf[i] ? findingOf[i].id : "",
        text: (i) => findingOf[i] ? findingOf[i].id : ""},
];

/* Whether a site's line, space, role, number or finding has the word. Lines are few: each is looked at once. */
function wordMatcher(word) {
    const inLine = frameMatcher(word), inText = onceFor((text) => texts[text].toLowerCase().includes(word));
    const named = siteNumber.get(word.toUpperCase());
    return (i) => inLine(sites.look_at[i]) || inText(sites.space[i]) || inText(sites.role[i]) || i === named ||
        findingOf[i] !== null && findingOf[i].id.toLowerCase() === word;
}

/* Sites that have every word. */
function sitesInOrder(text, finding, key, down) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const column = SITE_COLUMNS.find((c) => c.key === key) || SITE_COLUMNS[3];
    const matchers = words.map(wordMatcher);
    let list = d3.range(nSites);
    if (finding)
        list = list.filter((i) => findingOf[i] && findingOf[i].id === finding);
    for (const matches of matchers)
        list = list.filter(matches);
    return inOrder(list, column.value, down);
}

function seriesChart(i) {
    const series = seriesOf(i);
    if (!series.step.length)
        return el("p", {class: "quiet"}, "Nothing is known of its course.");
    return fitted((width) => {
        const xs = [...series.step, Math.max(lastStep, series.step[series.step.length - 1])].map((step) => Math.max(0, step));
        const ys = [...series.bytes, series.bytes[series.bytes.length - 1]];
        const chart = chartOf(width, 170, [0, xs[xs.length - 1] || 1], d3.max(ys), false);
        drawAxes(chart, countText, Math.max(2, width / 110), 4, stepUnit);
        drawLine(chart, xs, ys, "level", d3.curveStepAfter);
        chart.root.setAttribute("aria-label", `live bytes by ${stepUnit}, ${bytesText(d3.max(ys))} at most`);
        return chart.root;
    });
}

/* How old blocks were when they were freed, in classes of doubling ages. */
function lifetimesChart(i) {
    const raw = sites.lifetimes[i];
    if (!raw.length)
        return el("p", {class: "quiet"}, sites.frees[i] ? "Ages of its blocks were not noted." : "None of its blocks was freed.");
    const classes = d3.range(0, raw.length, 2).map((k) => ({age: raw[k], frees: raw[k + 1]}));
    const most = d3.max(classes, (c) => c.frees);
    return el("table", {class: "bars"},
        el("thead", {}, el("tr", {}, el("th", {scope: "col"}, `age in ${stepUnit}s`), el("th", {scope: "col", colspan: 2}, "freed"))),
        el("tbody", {}, classes.map((c, k) => el("tr", {},
            el("th", {scope: "row"}, ageText(c.age, classes[k + 1])),
            el("td", {class: "bar-cell"}, el("span", {class: "bar-fill", style: `width:${Math.max(1, 100 * c.frees / most)}%`})),
            el("td", {}, countText(c.frees))))));
}

function ageText(age, next) {
    return next && next.age === age + 1 || age === 0 ? countText(age) : "from " + countText(age);
}

function stackList(stack, lookAt) {
    return el("ol", {class: "stack"}, framesOf(stack).map((f) => el("li", {class: frameKind(f) + (f === lookAt ? " here" : "")},
        el("code", {}, nameOf(frame.name(f))), " ", nameOf(frame.where(f), {class: "quiet"}))));
}

function siteDetails(i) {
    const finding = findingOf[i];
    const pids = site.pids(i);
    return el("section", {class: "details", "aria-labelledby": "site-title", tabindex: "-1", id: "site"},
        el("h2", {id: "site-title"}, nameOf(site.title(i))),
        el("p", {}, `${site.id(i)}, ${site.space(i)}, ${site.role(i)}; ${bytesText(sites.live_bytes[i])} live at the end, ` +
            `${bytesText(sites.peak_bytes[i])} at most (${stepUnit} ${sites.peak_step[i]}), ${countText(sites.allocations[i])} allocations, ` +
            `${countText(sites.frees[i])} frees; `, pids.length === 1 ? "process " + pids[0] : plural(pids.length, "process", "processes"),
        finding ? ["; ", el("a", {href: "#findings?finding=" + finding.id}, "finding " + finding.id)] : null),
        el("div", {class: "columns"},
            el("div", {}, el("h3", {}, "Live bytes"), seriesChart(i)),
            el("div", {}, el("h3", {}, "Ages of freed blocks"), lifetimesChart(i))),
        el("h3", {}, "Stack, innermost first"), stackList(sites.stack[i], sites.look_at[i]));
}

const sitesView = {
    name: "sites", title: "Sites",
    enter(root) {
        const controls = el("div", {class: "controls"}), details = el("div");
        const count = el("p", {class: "quiet", role: "status"});
        const sortKey = () => state.get("sort", "retained_bytes"), sortDown = () => state.get("order", "down") === "down";
        const search = searchField("filter", state.get("search"), (text) => state.set({search: text}));
        const chosen = () => state.get("columns"), columns = columnChoice(SITE_COLUMNS, chosen, (keys) => state.set({columns: keys}));
        const table = virtualTable({columns: SITE_COLUMNS, chosen, label: "sites", sortKey, sortDown,
            onsort: (key) => state.set({sort: key, order: key === sortKey() && sortDown() ? "up" : "down"}),
            onopen: (i) => state.set({site: site.id(i)}, true)});
        let shown = "", listed = "";
        root.append(controls, count, table, details);
        return () => {
            const finding = state.get("finding"), text = state.get("search");
            const input = search.querySelector("input");
            if (document.activeElement !== input)
                input.value = text;
            if (!controls.contains(search))
                controls.append(search, el("span", {class: "choices"}), columns);
            updateControls(controls.querySelector(".choices"), [
                select("of", [["", "all"], ...findings.filter((f) => f.sites.length).map((f) => [f.id, findingTitle(f)])], finding,
                    (value) => state.set({finding: value})),
                select("sort by", SITE_COLUMNS.map((c) => [c.key, c.title]), sortKey(), (key) => state.set({sort: key}))]);
            columns.sync();
            const key = [text, finding, sortKey(), sortDown(), chosen()].join("\n");
            if (key !== listed) {
                listed = key;
                const list = sitesInOrder(text, finding, sortKey(), sortDown());
                table.update(list);
                const others = d3.sum(Object.values(data.others), (sums) => sums.sites);
                count.textContent = `${countText(list.length)} of ${plural(nSites, "site")}` +
                    (others ? `; ${countText(others)} very small ones are not in this page` : "");
            }
            if (state.get("site") !== shown) {
                shown = state.get("site");
                const i = siteNumber.get(shown);
                details.replaceChildren(...i === undefined ? [] : [siteDetails(i)]);
            }
        };
    },
};
