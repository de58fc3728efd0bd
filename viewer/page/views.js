/* The views in their order, and their keys. */

const views = [...(comparison ? [comparisonView, changesView, differenceView] : []),
    findingsView, timelineView, flameView, sitesView, processesView];
views.forEach((view, i) => view.key = String(i + 1));
