/* An address names findings, sites, pairs and layouts by their numbers in the data. Newer data has other numbers: what is
   in view is looked up in it, and dropped where it no longer exists. */

function findingNames(finding) {
    const place = finding.frame || {};
    const line = [finding.space, place.file || place.module, place.line || place.offset, functionText(finding.frame)].join("\n");
    return [finding.pattern + "\n" + line, line];
}

function stackName(stack) {
    return framesOf(stack).map((f) => frameKey(f)).join(".");
}

const indexOrNone = (i) => i < 0 ? undefined : i;

/* The order matters: a segment belongs to the layout in view. */
const CARRIED = {
    finding: {
        names: (id) => findingNames(findings.find((finding) => finding.id === id)),
        find: ([exact, line]) => (findings.find((f) => findingNames(f)[0] === exact) ||
            findings.find((f) => findingNames(f)[1] === line) || {}).id,
        has: (id) => findings.some((finding) => finding.id === id),
    },
    site: {
        names: (id) => [site.space(siteNumber.get(id)), stackName(sites.stack[siteNumber.get(id)])],
        find: ([space, stack]) => {
            const i = d3.range(nSites).find((n) => site.space(n) === space && stackName(sites.stack[n]) === stack);
            return i === undefined ? undefined : site.id(i);
        },
        has: (id) => siteNumber.has(id),
    },
    pair: {
        names: (i) => [texts[pairs.space[i]], stackName(pairs.stack[i])],
        find: ([space, stack]) => d3.range(nPairs).find((n) => texts[pairs.space[n]] === space &&
            stackName(pairs.stack[n]) === stack),
        has: (i) => /^\d+$/.test(i) && +i < nPairs,
    },
    layout: {
        names: (i) => layouts()[i],
        find: ({pid, device, reason}) => indexOrNone(layouts().findIndex((one) =>
            one.pid === pid && one.device === device && one.reason === reason)),
        has: (i) => /^\d+$/.test(i) && +i < layouts().length,
    },
    segment: {
        names: (s) => layoutWanted().segments.address[s],
        find: (address) => indexOrNone(layouts().length ? layoutWanted().segments.address.indexOf(address) : -1),
        has: (s) => /^\d+$/.test(s) && layouts().length > 0 && +s < (layoutWanted().segments.address || []).length,
    },
};

/* Call it before the data is replaced, and its result afterwards. */
function carryAddress() {
    const wanted = Object.entries(CARRIED).filter(([key, kind]) => kind.has(state.get(key)))
        .map(([key, kind]) => [key, kind.names(state.get(key))]);
    return () => wanted.forEach(([key, names]) => state.put({[key]: CARRIED[key].find(names) ?? ""}));
}
