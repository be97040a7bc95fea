"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const KEY = "mycnf-theme";

  // Colours: the choice lives as long as the browser lets a file keep anything.
  const theme = byId("theme");
  const kept = () => { try { return localStorage.getItem(KEY) || ""; } catch { return ""; } };
  const keep = (value) => { try { localStorage.setItem(KEY, value); } catch { /* not allowed here */ } };
  const paint = (value) => {
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
  };
  theme.value = kept();
  paint(theme.value);
  theme.addEventListener("change", () => { paint(theme.value); keep(theme.value); });
  theme.closest("[hidden]").hidden = false;

  // A link into something folded unfolds it.
  const reveal = () => {
    const aim = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    if (!aim) return;
    for (let at = aim; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      if (at.classList.contains("finding")) at.hidden = false;
    }
    const own = aim.querySelector(":scope > details");
    if (own) own.open = true;
    aim.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Each statement and line can be copied; so can each list of them.
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* not allowed here */ }
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  };
  document.querySelectorAll("code.copy, pre").forEach((one) => {
    const button = document.createElement("button");
    const text = one.textContent;
    button.type = "button";
    button.className = "copier";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${text.length > 60 ? `${text.slice(0, 59)}…` : text}`);
    button.addEventListener("click", async () => {
      button.textContent = (await copy(text)) ? "Copied" : "Select it and copy";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    if (one.tagName === "PRE") one.before(button); else one.after(" ", button);
  });

  const list = byId("list");
  if (!list) return;
  const rows = [...list.children].map((item, place) => ({ item, place, words: item.textContent.toLowerCase() }));
  const weights = { error: 0, warning: 1, note: 2 };
  const keys = {
    severity: (row) => weights[row.item.dataset.severity],
    code: (row) => row.item.dataset.code,
    confidence: (row) => Number(row.item.dataset.confidence),
    option: (row) => row.item.dataset.option || "\uffff",
    servers: (row) => -Number(row.item.dataset.servers),
  };
  const area = byId("area");
  const order = byId("order"), words = byId("words"), shown = byId("shown"), unfold = byId("unfold");
  const boxes = [...document.querySelectorAll("input.severity")];

  const sort = () => {
    const key = keys[order.value] || ((row) => row.place);
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    rows.sort((a, b) => compare(key(a), key(b)) || a.place - b.place);
    list.append(...rows.map((row) => row.item));
  };
  const sift = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const severities = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const row of rows) {
      const placed = !area || !area.value || row.item.dataset.area === area.value;
      const fits = placed && severities.has(row.item.dataset.severity) && wanted.every((word) => row.words.includes(word));
      row.item.hidden = !fits;
      count += fits;
    }
    shown.textContent = count === rows.length ? `all ${count} shown` : `${count} of ${rows.length} shown`;
  };
  const turn = () => {
    const open = unfold.getAttribute("aria-pressed") !== "true";
    unfold.setAttribute("aria-pressed", String(open));
    unfold.textContent = open ? "Fold all" : "Unfold all";
    list.querySelectorAll(":scope > li > details").forEach((one) => { one.open = open; });
  };

  order.addEventListener("change", sort);
  words.addEventListener("input", sift);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { words.value = ""; sift(); }
  });
  if (area) area.addEventListener("change", sift);
  boxes.forEach((box) => box.addEventListener("change", sift));
  unfold.addEventListener("click", turn);
  sift();
  shown.closest("[hidden]").hidden = false;
})();
