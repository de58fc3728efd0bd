/* What is looked at stands in the address: #view?key=value. So every view has a link, and the browser's way back. */

const state = {
    view: "",
    values: new URLSearchParams(),

    read() {
        const [view, rest] = location.hash.replace(/^#/, "").split(/\?(.*)/s);
        state.view = view;
        state.values = new URLSearchParams(rest || "");
    },
    get: (key, missing = "") => state.values.get(key) ?? missing,

    /* The link to a view; what several views share, such as the window, goes along. */
    link(view, values = {}) {
        const all = new URLSearchParams();
        for (const key of ["window", "memory"])
            if (state.values.has(key))
                all.set(key, state.values.get(key));
        for (const [key, value] of Object.entries(values)) {
            if (value === "" || value === null)
                all.delete(key);
            else
                all.set(key, value);
        }
        return "#" + view + (all.toString() ? "?" + all : "");
    },

    /* Changes values of this view; `kept`: as an entry of the browser's history. */
    set(changes, kept) {
        state.put(changes, kept);
        show();
    },

    /* The same without drawing. */
    put(changes, kept) {
        for (const [key, value] of Object.entries(changes)) {
            if (value === "" || value === null)
                state.values.delete(key);
            else
                state.values.set(key, value);
        }
        const address = "#" + state.view + (state.values.toString() ? "?" + state.values : "");
        if (kept)
            history.pushState(null, "", address);
        else
            history.replaceState(null, "", address);
    },
};
