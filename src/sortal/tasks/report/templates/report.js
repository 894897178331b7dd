// The page around the parts: starts them, folds long tables, marks where one reads, and opens
// what is folded before it is printed.
(() => {
  "use strict";
  function start(kind, begin) {
    for (const block of document.querySelectorAll(`script[data-kind="${kind}"]`)) {
      const root = document.querySelector(`[data-part-of="${CSS.escape(block.dataset.for)}"]`);
      begin(root, JSON.parse(block.textContent));
    }
  }
  start("tree", showTree); // first, to light what is decided
  start("decide", startDecide);

  function foldTable(table) {
    const first = Number(table.dataset.fold), rows = [...table.tBodies[0].rows].slice(first);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "more";
    const show = (all) => {
      for (const row of rows) row.hidden = !all;
      button.setAttribute("aria-expanded", all);
      const more = `Show all ${rows.length + first} rows`;
      button.textContent = all ? `Show the first ${first} rows` : more;
    };
    button.addEventListener("click", () => show(rows[0].hidden));
    table.closest(".scroll").after(button);
    show(false);
    return show;
  }
  const folded = [...document.querySelectorAll("table[data-fold]")].map(foldTable);

  // A link into a folded model opens it.
  function open() {
    const id = decodeURIComponent(location.hash.slice(1));
    const aim = id && document.getElementById(id);
    if (!aim) return;
    for (let at = aim; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    aim.scrollIntoView();
  }
  window.addEventListener("hashchange", open);
  open();

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
    for (const show of folded) show(true);
  });
  window.addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    for (const show of folded) show(false);
  });

  const links = [...document.querySelectorAll("nav a")];
  const aims = links.map((link) => document.getElementById(link.hash.slice(1)));
  function mark() {
    const line = 120; // pixels below the top
    const passed = aims.map((aim) => aim.getBoundingClientRect().top < line);
    const at = Math.max(0, passed.lastIndexOf(true));
    links.forEach((link, i) => {
      if (i === at) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    });
  }
  window.addEventListener("scroll", mark, { passive: true });
  mark();
})();
