/* A page from `seep view --serve` follows the job: it asks its server for newer data, which waits until there is some, and
   replaces the old. A page from a file does none of this. */

const live = data.live && /^https?:$/.test(location.protocol)
    ? {...data.live, paused: false, gone: false, lost: false, held: null, asking: null, ahead_s: 0} : null;

const GIVE_UP_S = 60; /* the server answers within 25 s */
const AGAIN_S = 5; /* after a failure */

const LIVE_MARKS = {live: "●", paused: "❚❚", ended: "■", gone: "▲"};

function liveKind() {
    return live.gone ? "gone" : live.state === "ended" ? "ended" : live.paused ? "paused" : "live";
}

function timeText(unix_s) {
    return new Date(1000 * unix_s).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"});
}

/* "live, step 1234, 3 s ago"; clocks may differ, so the age is measured by the server's. */
function liveText() {
    const kind = liveKind(), age = Math.max(0, Date.now() / 1000 + live.ahead_s - live.unix_s);
    const step = `${stepUnit} ${countText(job.steps || 0)}`;
    if (kind === "gone")
        return `the server is gone: this page shows the job at ${timeText(live.unix_s)}`;
    if (kind === "ended")
        return many ? "a digest, which does not change" : "the job has ended";
    if (kind === "paused")
        return `paused at ${step}, ${timeText(live.unix_s)}`;
    if (live.state === "failed")
        return `the last look failed (${live.why}): this page shows the job at ${timeText(live.unix_s)}`;
    return (live.state === "unknown" ? "live (seep cannot tell whether the job still runs), " : "live, ") + `${step}, ` +
        (age < 1 ? "now" : secondsText(Math.floor(age)).replace(".0", "") + " ago") + (live.held ? "; newer data is ready" : "");
}

const liveMark = el("span", {class: "live"});
const livePause = el("button", {type: "button", onclick: () => pauseLive()});

function showLive() {
    const kind = liveKind();
    liveMark.className = "live " + kind;
    liveMark.replaceChildren(el("span", {"aria-hidden": "true"}, LIVE_MARKS[kind] + " "), nameOf(liveText()));
    livePause.hidden = kind === "gone" || kind === "ended";
    if (livePause.dataset.key !== kind) {
        if (livePause.dataset.key)
            say(liveText());
        livePause.dataset.key = kind;
        livePause.replaceChildren(live.paused ? "Resume" : "Pause");
        livePause.title = (live.paused ? "Resume" : "Pause") + " (p)";
    }
}

/* While the reader drags, chooses, composes or selects something, the page below stays as it is. */
const hands = {down: false, list: null, composing: false};

function isBusy() {
    const marked = getSelection();
    return hands.down || hands.list !== null && hands.list.isConnected && hands.list === document.activeElement ||
        hands.composing || !marked.isCollapsed && main.contains(marked.anchorNode);
}

function watchHands() {
    const on = (name, then) => document.addEventListener(name, then, true);
    on("pointerdown", (event) => {
        hands.down = true;
        const list = event.target.closest("select");
        hands.list = list === hands.list ? null : list; // a second press closes the list
    });
    for (const name of ["pointerup", "pointercancel", "dragend"])
        on(name, () => hands.down = false);
    on("pointermove", (event) => hands.down &&= event.buttons !== 0); // it was released outside the window
    for (const name of ["change", "keydown"])
        on(name, () => hands.list = null);
    on("compositionstart", () => hands.composing = true);
    on("compositionend", () => hands.composing = false);
}

function drawHeld() {
    if (!live.held || live.paused || isBusy())
        return;
    const newer = live.held;
    live.held = null;
    Object.assign(live, newer.live);
    const carry = carryAddress(), restore = keepPlace();
    replaceData(newer);
    carry();
    redraw();
    restore();
}

/* A look that failed brings nothing to draw. */
function takeNews(newer, date) {
    live.gone = false;
    live.ahead_s = date ? Date.parse(date) / 1000 + 0.5 - Date.now() / 1000 : live.ahead_s; // the server's date is in whole seconds
    if (newer && newer.job)
        live.held = newer;
    else if (newer)
        Object.assign(live, {version: newer.live.version, state: newer.live.state, why: newer.live.why});
    drawHeld();
    showLive();
}

function newestVersion() {
    return live.held ? live.held.live.version : live.version;
}

const isOver = () => live.lost || (live.held ? live.held.live : live).state === "ended";

/* Resolves when there is reason to ask again. */
function untilWanted() {
    return new Promise((resolve) => {
        const look = () => live.paused || document.hidden ? setTimeout(look, 200) : resolve();
        look();
    });
}

async function askOnce() {
    live.asking = new AbortController();
    const giveUp = setTimeout(() => live.asking.abort(), 1000 * GIVE_UP_S);
    try {
        const answer = await fetch("data?after=" + newestVersion(), {cache: "no-store", signal: live.asking.signal});
        live.lost = !answer.ok; // another server is at this address now
        live.gone = live.lost;
        takeNews(answer.status === 200 ? await answer.json() : null, answer.headers.get("Date"));
    } catch (error) {
        live.gone = live.gone || !live.paused && !document.hidden;
    }
    clearTimeout(giveUp);
    showLive();
}

async function followJob() {
    while (!isOver()) {
        await untilWanted();
        await askOnce();
        if (live.gone)
            await new Promise((resolve) => setTimeout(resolve, 1000 * AGAIN_S));
    }
}

/* A page that nobody looks at does not ask. */
function stopAsking() {
    if (live.asking && (live.paused || document.hidden))
        live.asking.abort();
}

function pauseLive() {
    if (livePause.hidden)
        return;
    live.paused = !live.paused;
    stopAsking();
    drawHeld();
    showLive();
}

function beginLive() {
    document.querySelector(".tools").before(el("span", {class: "following"}, liveMark, livePause));
    document.addEventListener("visibilitychange", stopAsking);
    watchHands();
    setInterval(() => {
        drawHeld();
        showLive();
    }, 1000);
    showLive();
    followJob();
}
