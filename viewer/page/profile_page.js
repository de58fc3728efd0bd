/* The page of a profile, or of two. */

function jobName() {
    const script = job.command.find((word) => /\.py$/.test(word)) || job.command[0] || "job";
    return cutText(script.split("/").pop(), 80);
}

begin({
    views: () => views, name: jobName, searched: "flame",
    head() {
        const host = many ? plural(many.hosts, "host") : cutText(job.host, 60);
        const when = `${host ? ` on ${host}` : ""}, ${new Date(1000 * job.started_unix_s).toLocaleString()}`;
        const command = job.command.length ? job.command : ["PyTorch's memory snapshot"];
        return {title: cutText(command.join(" "), 1000) + when,
            line: [comparison ? "NEW " : "", commandOf(command, 200), el("span", {class: "quiet"}, when)]};
    },
    keys: () => [
        ["/", "search this view; views without a search open the flame graph's"],
        ["Tab", "from one control to the next"],
        ["arrows", "in the flame graph: callers, callees and neighbours; in the table: rows"],
        ["Enter", "zoom to the frame; open the row"],
        ["i", "in the flame graph: invert it (innermost or outermost frame on top)"],
        ["Esc", "zoom out; leave the search; close this"],
        ...live ? [["p", "pause, or resume following the job"]] : [],
    ],
    press(key) {
        if (key === "p" && live)
            pauseLive();
        else if (key === "i" && state.view === "flame")
            state.set({inverted: state.get("inverted") ? "" : "1", zoom: ""});
        else
            return false;
        return true;
    },
    started: () => live && beginLive(),
});
