/* The state of the views is in the address: #view?key=value. So every view has a link, and the browser's Back works. */

const state = {
    view: "",
    values: new URLSearchParams(),

    read() {
        const [view, rest] = location.hash.replace(/^#/, "").split(/\?(.*)/s);
        state.view = view;
        state.values = new URLSearchParams(rest || "");
    },
    get: (key, missing = "") => state.values.get(key) ?? missing,

    /* The link to a view; carries over what views share, such as the window. */
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

    /* Changes values of this view; `kept`: as a new entry of the browser's history. */
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

/* A key for addresses that stands for a longer text. */
function shortKey(text) {
    let hash = 0x811c9dc5; /* FNV-1a, of 32 bits */
    for (let i = 0; i < text.length; i++)
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return (hash >>> 0).toString(36);
}
