/* Choices: lists, buttons, fields. */

/* Controls are remade with each change; the focused one keeps the focus. */
function updateControls(place, controls) {
    const inputs = () => [...place.querySelectorAll("select, input, button")];
    const focused = inputs().indexOf(document.activeElement);
    place.replaceChildren(...controls.filter(Boolean));
    if (focused >= 0 && inputs()[focused])
        inputs()[focused].focus();
}

/* The value that was asked for, if it is an option. */
function oneOf(options, value) {
    return options.some(([key]) => key === value) ? value : options[0][0];
}
