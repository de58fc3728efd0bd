/* Elements are made here and nowhere else: text from a profile only ever becomes a text node or the value of a harmless
   attribute, so no name can be markup. */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else if (value === true)
            element.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined)
            element.setAttribute(name, value);
    }
    for (const child of children.flat(3)) {
        if (child !== null && child !== undefined && child !== false)
            element.append(child);
    }
    return element;
}

function el(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

/* A name from the profile, isolated so that its text direction does not affect the text around it. */
function nameOf(text, attributes) {
    return el("bdi", attributes, text);
}

/* The words of a command; a word breaks only where it is longer than a line. */
function commandOf(words, most) {
    return nameOf(cutText(words.join(" "), most).split(" ").flatMap((word, i) => [i ? " " : null, el("span", {class: "word"}, word)]),
        {class: "command"});
}

/* A labelled choice; `options`: [value, text]. */
function select(label, options, value, changed) {
    const list = el("select", {onchange: () => changed(list.value)},
        options.map(([v, text]) => el("option", {value: v, selected: v === value}, text)));
    return el("label", {class: "field"}, el("span", {}, label), list);
}

function searchField(label, value, changed) {
    const input = el("input", {type: "search", value, placeholder: "/ to search", spellcheck: "false", autocomplete: "off",
        class: "search", oninput: () => changed(input.value)});
    return el("label", {class: "field grow"}, el("span", {}, label), input);
}

/* Also announced by screen readers. */
function say(text) {
    document.getElementById("said").textContent = text;
}

/* A fold whose content is made when it is first opened, or printed. */
function fold(attributes, summary, make) {
    const place = el("div"), draw = () => folded.open && !place.childElementCount && fill(place, {}, [make()]);
    const folded = el("details", {...attributes, "data-paper": true, ontoggle: draw, onpaper: draw}, el("summary", {}, summary), place);
    return folded;
}

let idsMade = 0;
function freshId(prefix) {
    return prefix + ++idsMade;
}
