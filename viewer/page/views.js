/* The views in their order, and their keys. Those of what the data has not are left out. */

let views;
derive(() => {
    views = [...(comparison ? [comparisonView, changesView, differenceView] : []),
        findingsView, timelineView, flameView, sitesView, processesView, ...(layouts().length ? [deviceView] : [])];
    views.forEach((view, i) => view.key = String(i + 1));
});
