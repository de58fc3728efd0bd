/* The steps of a path from a variable to a holder, each a box of the picture: the module, function or library, the
   variable, and then one for each attribute, entry or pointer. */

const ROOT_NAMES = {modules: "sys.modules", thread: "threads' locals", stack: "C stacks", "thread-data": "thread-local storage"};

const typed = (name, type) => name + (type && type !== "module" ? ` (${type})` : "");

/* `type`: of what the root leads to. */
function rootSteps({kind, name, function: where, file}, type) {
    if (kind === "local")
        return [`${where || "?"}()`, typed(name ? `local '${name}'` : "a temporary", type)];
    if (kind === "module")
        return [`module ${name || "?"}`];
    if (kind === "static") {
        const library = (file || "").split("/").pop() || "a program";
        return [library, typed(name && name !== library ? `global '${name}'` : "static data", type)];
    }
    return kind in ROOT_NAMES ? [typed(ROOT_NAMES[kind], type)] : []; /* the rest are by their state */
}

const HOP_NAMES = {
    attribute: (name) => "." + name,
    key: (name) => name ? `['${name}']` : "[keys]",
    index: () => "[entries]",
    element: () => "{elements}",
    local: (name) => name ? `its local '${name}'` : "its temporary",
    part: (name) => name,
    field: () => "→",
    native: () => "→ C++",
    self: () => "",
};

function stepsTo({path: {root, hops}}) {
    const [self, rest] = hops.length && hops[0].kind === "self" ? [hops[0].type, hops.slice(1)] : ["", hops];
    const steps = [...rootSteps(root, self), ...rest.map((hop) => typed(HOP_NAMES[hop.kind](hop.name || ""), hop.type))];
    return steps.length ? steps : [self || "blocks"];
}
