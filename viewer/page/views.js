/* The views in their order, and their keys; without those for which there is no data. */

let views;
derive(() => {
    views = [...(comparison ? [comparisonView, changesView, differenceView] : []),
        ...(many ? [ranksView] : []), findingsView, timelineView, flameView, sitesView, ...(many ? [] : [processesView]), ...(layouts().length ? [deviceView] : [])];
    views.forEach((view, i) => view.key = String(i + 1));
});
