/* Which view is shown; light or dark. What the page is about says who begins it: its views(), the name() of what they show,
   the line of its head() and that one's title, the keys() of its own and press(key), which returns whether it is one, the
   name of the view whose search covers everything, and what is started() in the end. */

let thisPage;

const main = document.getElementById("main");
let entered = null, update = null;

function enter(view) {
    entered = view;
    main.replaceChildren(el("h1", {class: "unseen"}, view.title));
    update = view.enter(main);
    document.title = `${view.title} · seep · ${thisPage.name()}`;
}

/* Draws the shown view again from newer data. */
function redraw() {
    enter(entered);
    show();
}

function show() {
    const views = thisPage.views(), view = views.find((v) => v.name === state.view) || views[0];
    if (view !== entered) {
        enter(view);
        scrollTo(0, 0);
        say(view.title);
    }
    update();
    document.getElementById("views").replaceChildren(...views.map((v) => el("a", {href: state.link(v.name),
        "aria-current": v === view ? "page" : null, title: `${v.title} (${v.key})`}, v.title)));
}

function goByAddress() {
    state.read();
    show();
}

const THEME_KEY = "seep-theme", remembered = new Map();

/* What the reader has chosen, for all pages; a page from a file may have no local storage, and remembers it alone. */
function stored(key, value) {
    try {
        if (value)
            localStorage.setItem(key, value);
        return localStorage.getItem(key);
    } catch (error) {
        return value ? remembered.set(key, value) && value : remembered.get(key) || null;
    }
}

function switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    stored(THEME_KEY, root.dataset.theme);
}

/* Elements that draw only what is in sight draw differently for paper. */
function tellPaper(event) {
    document.querySelectorAll("[data-paper]").forEach((element) => element.dispatchEvent(new Event(event)));
}

/* Paper cannot unfold: folds are open while printing, except details of which there may be very many. */
function openForPaper() {
    const folded = [...document.querySelectorAll("details:not(.choose, .how, .brief, [open])")];
    folded.forEach((one) => one.open = true);
    tellPaper("paper");
    addEventListener("afterprint", () => folded.forEach((one) => one.open = false), {once: true});
}

function begin(page) {
    thisPage = page;
    derive(tellKeys);
    const theme = stored(THEME_KEY);
    if (theme === "light" || theme === "dark")
        document.documentElement.dataset.theme = theme;
    document.body.append(helpDialog);
    const {title, line} = thisPage.head();
    fill(document.getElementById("job"), {title}, line);
    document.getElementById("theme").addEventListener("click", switchTheme);
    document.getElementById("help").addEventListener("click", () => helpDialog.showModal());
    document.getElementById("skip").addEventListener("click", (event) => {
        event.preventDefault();
        main.focus();
    });
    document.addEventListener("keydown", onKey);
    addEventListener("beforeprint", openForPaper);
    addEventListener("afterprint", () => tellPaper("screen"));
    addEventListener("hashchange", goByAddress);
    addEventListener("popstate", goByAddress);
    goByAddress();
    thisPage.started();
    performance.mark("drawn");
}
