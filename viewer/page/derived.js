/* The data as the command wrote it into the page. Whatever is computed from it, here and elsewhere, is computed by derive(),
   so that newer data can replace all of it at once. */

let data = JSON.parse(document.getElementById("data").textContent);

const derivations = [];

/* Computes something from the data: now, and whenever newer data comes. */
function derive(make) {
    derivations.push(make);
    make();
}

function replaceData(newer) {
    data = newer;
    derivations.forEach((make) => make());
}

/* Computes a value for each key when it is first asked for. */
function onceFor(make) {
    const made = new Map();
    return (key) => {
        if (!made.has(key))
            made.set(key, make(key));
        return made.get(key);
    };
}

/* The same for values computed from the data: forgotten when newer data comes. */
function onceOfData(make) {
    let asked;
    derive(() => asked = onceFor(make));
    return (key) => asked(key);
}
