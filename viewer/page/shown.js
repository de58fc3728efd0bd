/* Which view is shown, and light or dark. */

const main = document.getElementById("main");
let entered = null, update = null;

function enter(view) {
    entered = view;
    main.replaceChildren(el("h1", {class: "unseen"}, view.title));
    update = view.enter(main);
    document.title = `${view.title} · seep · ${jobName()}`;
}

/* The view that is shown, of newer data. */
function redraw() {
    enter(entered);
    show();
}

function show() {
    const view = views.find((v) => v.name === state.view) || views[0];
    if (view !== entered) {
        enter(view);
        scrollTo(0, 0);
        say(view.title);
    }
    update();
    document.getElementById("views").replaceChildren(...views.map((v) => el("a", {href: state.link(v.name),
        "aria-current": v === view ? "page" : null, title: `${v.title} (${v.key})`}, v.title)));
}

function jobName() {
    const script = job.command.find((word) => /\.py$/.test(word)) || job.command[0] || "job";
    return cutText(script.split("/").pop(), 80);
}

function goByAddress() {
    state.read();
    show();
}

const THEME_KEY = "seep-theme";

/* A page from a file may have no storage. */
function storedTheme(theme) {
    try {
        if (theme)
            localStorage.setItem(THEME_KEY, theme);
        return localStorage.getItem(THEME_KEY);
    } catch (error) {
        return null;
    }
}

function switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    storedTheme(root.dataset.theme);
}

/* What draws only what is in sight draws otherwise for paper. */
function tellPaper(event) {
    document.querySelectorAll("[data-paper]").forEach((element) => element.dispatchEvent(new Event(event)));
}

/* Paper has nothing to unfold: what is folded is open while it is printed, but for details of what may be very many. */
function openForPaper() {
    const folded = [...document.querySelectorAll("details:not(.choose, .how, .brief, [open])")];
    folded.forEach((one) => one.open = true);
    tellPaper("paper");
    addEventListener("afterprint", () => folded.forEach((one) => one.open = false), {once: true});
}

function begin() {
    const theme = storedTheme();
    if (theme === "light" || theme === "dark")
        document.documentElement.dataset.theme = theme;
    document.body.append(helpDialog);
    const when = ` on ${cutText(job.host, 60)}, ${new Date(1000 * job.started_unix_s).toLocaleString()}`;
    fill(document.getElementById("job"), {title: cutText(job.command.join(" "), 1000) + when},
        [comparison ? "NEW " : "", commandOf(job.command, 200), el("span", {class: "quiet"}, when)]);
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
    if (live)
        beginLive();
}

begin();
performance.mark("drawn");
