"use strict";
// Everything works without this file: it keeps the page up to date, and adds keys and comments on lines.
const root = document.body.dataset.root;
const watch = document.body.dataset.watch;
const state = document.getElementById("state");

let loading = false, again = false;

// Replaces the parts of the page that change by those of the present state. A part in which somebody types stays.
async function refresh() {
  if (loading) { again = true; return; }
  loading = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const text = await answer.text();
    if (!answer.ok) { state.textContent = "This is gone, or wfs ui was restarted."; return; }
    const fresh = new DOMParser().parseFromString(text, "text/html");
    document.title = fresh.title;
    const here = document.querySelector(".here"), focused = document.activeElement;
    for (const part of document.querySelectorAll("[data-live]")) {
      const now = fresh.getElementById(part.id);
      if (!now || part.innerHTML === now.innerHTML || part.contains(document.activeElement) && typing(document.activeElement)) continue;
      if (part.matches(":active")) continue; // a button that is pressed must be there when it is released
      if ([...part.querySelectorAll("textarea, input[type=checkbox]")].some((t) => t.type === "checkbox" ? t.checked : t.value)) continue;
      const open = [...part.querySelectorAll("details")].map((d) => d.open);
      part.innerHTML = now.innerHTML;
      part.querySelectorAll("details").forEach((d, i) => { if (open[i]) d.open = true; });
    }
    filter();
    if (here && !here.isConnected) mark(items().findIndex((e) => nameOf(e) === nameOf(here)), false);
    if (!focused.isConnected) {
      const same = [...document.querySelectorAll(focused.tagName)].find((e) => nameOf(e) === nameOf(focused));
      if (same) same.focus({ preventScroll: true });
    }
  } finally {
    loading = false;
    if (again) { again = false; setTimeout(refresh, 300); }
  }
}

if (watch) {
  const gone = () => { state.textContent = "not connected: wfs ui has ended, or cannot be reached"; };
  let timer;
  const alive = () => {
    state.textContent = "live";
    clearTimeout(timer);
    timer = setTimeout(gone, 12000); // the server says something every 5 seconds
  };
  const events = new EventSource(root + "/events");
  events.onopen = () => { alive(); refresh(); };
  events.onerror = () => { clearTimeout(timer); gone(); };
  events.addEventListener("alive", alive);
  events.onmessage = (e) => {
    alive();
    if (watch === "all" || JSON.parse(e.data).includes(watch)) refresh();
  };
}

function typing(e) { return e && e.matches("input:not([type=checkbox]), textarea, select"); }

function items() { return [...document.querySelectorAll("[data-item], .sbs > details")].filter((e) => e.offsetParent !== null); }

// nameOf finds an element again that a refresh has made anew: by the address or text of its first link.
function nameOf(e) {
  const link = e.matches("a") ? e : e.querySelector("a");
  return link ? link.getAttribute("href") : e.textContent;
}

function mark(n, move) {
  const all = items();
  for (const e of document.querySelectorAll(".here")) e.classList.remove("here");
  const item = all[Math.max(0, Math.min(n, all.length - 1))];
  if (!item) return;
  item.classList.add("here");
  if (!move) return;
  item.scrollIntoView({ block: "nearest" });
  const link = item.querySelector("summary, a");
  if (link) link.focus({ preventScroll: true });
}

const box = document.getElementById("filter");
function filter() {
  if (!box) return;
  const words = box.value.toLowerCase().split(/\s+/);
  for (const e of document.querySelectorAll("#board [data-item]")) {
    e.hidden = !words.every((w) => e.textContent.toLowerCase().includes(w));
  }
  for (const e of document.querySelectorAll("#board section")) e.hidden = !e.querySelector("[data-item]:not([hidden])");
}
if (box) {
  box.hidden = false;
  box.addEventListener("input", filter);
}

function to(id) {
  const e = document.getElementById(id);
  if (!e) return;
  const fold = e.closest("details");
  if (fold) fold.open = true;
  e.focus();
}

document.addEventListener("keydown", (e) => {
  if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && e.target.form && e.target.matches("textarea")) {
    // approve or reject is a choice: only a form with one button is sent
    if (e.target.form.querySelectorAll("button").length === 1) e.target.form.requestSubmit();
    return;
  }
  if (e.key === "Escape" && typing(e.target)) { e.target.blur(); return; }
  if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) return;
  const line = e.target.closest(".sbs tbody th a");
  if (line && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
    const lines = [...document.querySelectorAll(".sbs tbody th:not(.same:first-child) a")].filter((a) => a.offsetParent !== null);
    const next = lines[lines.indexOf(line) + (e.key === "ArrowDown" ? 1 : -1)];
    if (next) next.focus();
    e.preventDefault();
    return;
  }
  const all = items();
  const at = all.indexOf(document.querySelector(".here"));
  const up = document.body.dataset.up;
  switch (e.key) {
    case "j": mark(at + 1, true); break;
    case "k": mark(at < 0 ? 0 : at - 1, true); break;
    case "u": if (up) location.href = up; break;
    case "g": location.href = root + "/"; break;
    case "d": { const link = document.getElementById("changes"); if (link) link.click(); break; }
    case "/": to("filter"); break;
    case "a": case "x": to("text"); break;
    case "n": to("note"); break;
    case "?": document.getElementById("help").showModal(); break;
    default: return;
  }
  e.preventDefault();
});

// Comments on lines: a click on a line's number opens a text for it in the form for approve and reject.
const review = document.getElementById("review");
if (review) {
  document.getElementById("hint").hidden = false;
  document.addEventListener("click", (e) => {
    const number = e.target.closest(".sbs tr[data-path] th");
    if (!number) return;
    e.preventDefault();
    const row = number.closest("tr");
    const code = number.nextElementSibling ? number.nextElementSibling.textContent.trim() : "";
    const old = number.cellIndex === 0 ? " (old)" : "";
    const where = row.dataset.path + ":" + number.textContent.trim() + old + ": " + code.slice(0, 120);
    const label = document.createElement("label");
    label.textContent = where;
    const line = document.createElement("input");
    line.type = "hidden";
    line.name = "line";
    line.value = where;
    const comment = document.createElement("textarea");
    comment.name = "comment";
    comment.rows = 2;
    label.append(line, comment);
    document.getElementById("comments").append(label);
    comment.focus();
  });
}
