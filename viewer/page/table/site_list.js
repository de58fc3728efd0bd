/* All sites as a table, and how large what they allocated was. */

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
    {...bytesColumn("live_bytes", "live at end", 104), asked: true},
    bytesColumn("peak_bytes", "peak", 104, true),
    {...bytesColumn("growth", "growth/step", 116), text: (i) => bytesText(Math.abs(sites.growth[i]) < 0.5 ? 0 : sites.growth[i])},
    bytesColumn("allocated_bytes", "allocated", 104, true),
    {...numberColumn("allocations", "allocations", 108, (i) => sites.allocations[i], true), text: (i) => countText(sites.allocations[i])},
    {...numberColumn("age_p50", "median age", 104, (i) => sites.age_p50[i]), asked: true},
    {key: "threads", title: "thread", width: 170, left: true, asked: true, value: site.threads, text: (i) => nameOf(site.threads(i))},
    {key: "finding", title: "finding", width: 76, wide: true, value: findingIds, text: findingIds},
];

/* Whether a site's line, space, role, thread, number or finding has the word. Lines are few: each is looked at once. */
function wordMatcher(word) {
    const inLine = frameMatcher(word), inText = onceFor((text) => texts[text].toLowerCase().includes(word));
    const named = siteNumber.get(word.toUpperCase());
    return (i) => inLine(sites.look_at[i]) || inText(sites.space[i]) || inText(sites.role[i]) || i === named ||
        sites.threads[i] >= 0 && inText(sites.threads[i]) || isOfFinding(i, word.toUpperCase());
}

/* Sites that have every word. */
function sitesInOrder(text, finding, key, down) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const column = SITE_COLUMNS.find((c) => c.key === key) || SITE_COLUMNS[3];
    const matchers = words.map(wordMatcher);
    let list = d3.range(nSites);
    if (finding)
        list = list.filter((i) => isOfFinding(i, finding));
    for (const matches of matchers)
        list = list.filter(matches);
    return inOrder(list, column.value, down);
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
        const sizes = el("details", {class: "sizes", ontoggle: () => drawSizes()}, el("summary", {}, "Sizes of what these sites allocated"));
        const sizesPlace = el("div");
        let shown = "", listed = "", list = [];
        const drawSizes = () => sizesPlace.replaceChildren(...sizes.open ? sizesOf(list) : []);
        sizes.append(sizesPlace);
        root.append(controls, count, table, sizes, details);
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
                list = sitesInOrder(text, finding, sortKey(), sortDown());
                table.update(list);
                drawSizes();
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
