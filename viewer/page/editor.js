/* Lines of code open in the reader's editor. It is chosen once, in the help, and the browser keeps it as it keeps the theme. */

const addressPath = (file) => file.split("/").map(encodeURIComponent).join("/");
const inJetBrains = (scheme) => (file, line) => `${scheme}://open?file=${encodeURIComponent(file)}&line=${line}`;

const EDITORS = {
    vscode: {name: "VS Code", address: (file, line) => `vscode://file${addressPath(file)}:${line}`},
    idea: {name: "IntelliJ IDEA", address: inJetBrains("idea")},
    pycharm: {name: "PyCharm", address: inJetBrains("pycharm")},
};

const editorWanted = () => EDITORS[stored("seep-editor")] || null;

/* Choosing makes the view anew, with its links. */
function editorChoice() {
    return select("lines of code open in", [["none", "no editor"], ...Object.entries(EDITORS).map(([key, {name}]) => [key, name])],
        Object.keys(EDITORS).find((key) => EDITORS[key] === editorWanted()) || "none", (key) => {
            stored("seep-editor", key);
            redraw();
        });
}

/* What stands for a line: a link, if an editor is chosen and the file's whole path is known. */
function inEditor(file, line, content) {
    const editor = editorWanted();
    return editor && file && file.startsWith("/") && line > 0
        ? el("a", {class: "in-editor", href: editor.address(file, line), title: "open in " + editor.name, onclick: (event) => event.stopPropagation()}, content)
        : content;
}

/* Beside the first line of a page, as long as none is chosen. */
const editorOffer = (file) => editorWanted() || !file || !file.startsWith("/") ? null
    : [" ", el("button", {type: "button", class: "offer", onclick: () => helpDialog.showModal()}, "open in an editor …")];
