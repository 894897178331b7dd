// A form in which a fitted model decides a typed row, as Python does. `data` holds the model in plain
// numbers, `root` is the element around the form. Nothing is asked from the network.
function startDecide(root, data) {
  "use strict";
  if (!data.model) return; // it was too large for a page
  const { fields, classes } = data, everyClass = [...classes.keys()], model = decideModels(data);
  const sum = (list) => list.reduce((total, x) => total + x, 0);
  const difference = (a, b) => (a === b ? 0 : a - b);

  // --- Cells ---

  const keyOf = (value) => (typeof value === "string" ? `"${value}` : String(Number(value)));
  const codes = fields.map((field) => new Map((field.values || []).map((v, code) => [keyOf(v), code])));

  const hole = (text) => ({ x: NaN, hole: true, unknown: false, text });
  const faulty = (text, fault) => ({ ...hole(text), fault });

  function categoryCell(f, code, text) {
    if (code === null) return { ...hole(text), x: -1 };
    const unknown = code < 0 || (data.model.unseen?.[f] || []).includes(code);
    return { x: unknown ? -2 : code, hole: false, unknown, text };
  }

  function numberCell(f, text) {
    if (text.trim() === "") return hole("");
    const isDate = fields[f].kind === "date";
    const x = (isDate ? readDays : readNumber)(text.trim());
    const form = isDate ? "a date such as 2024-12-31 or 2024-12-31 18:30" : "a number such as 12.5";
    if (Number.isNaN(x)) return faulty(text, `“${text}” cannot be read: write ${form}.`);
    return checked(x, text);
  }

  function checked(x, text) {
    const most = data.largest ?? Number.MAX_VALUE;
    if (!Number.isFinite(x)) return faulty(text, `${text} is infinite: only finite numbers are allowed.`);
    if (Math.abs(x) <= most) return { x, hole: false, unknown: false, text };
    return faulty(text, `${text} is beyond ${most}, and its square cannot be added up.`);
  }

  // A cell from a value: of a category the value itself, of a date its text or its days.
  function cellOf(f, value) {
    if (fields[f].kind !== "category") {
      if (typeof value !== "number") return numberCell(f, value ?? "");
      return Number.isNaN(value) ? hole("") : checked(value, String(value));
    }
    const code = codes[f].get(keyOf(value ?? ""));
    if (code === undefined && (value ?? "") === "") return categoryCell(f, null, "");
    return categoryCell(f, code ?? -1, String(value));
  }

  function typedCell(f) {
    const input = inputs[f], { words } = fields[f];
    if (fields[f].kind !== "category") return numberCell(f, input.value);
    if (input.value === "") return categoryCell(f, null, "");
    if (input.tagName === "SELECT") {
      const code = Number(input.value);
      return categoryCell(f, code, code < 0 ? "another value" : words[code]);
    }
    const code = words.indexOf(words.includes(input.value) ? input.value : input.value.trim());
    return categoryCell(f, code, input.value);
  }

  // Where Python refuses the row, the words for it.
  function refusal(cells) {
    const named = (places) => places.map((f) => fields[f].label).join(", ");
    const those = (test) => [...cells.keys()].filter((f) => test(cells[f]));
    const faults = those((cell) => cell.fault), holes = those((cell) => cell.hole && !cell.fault);
    const strange = those((cell) => cell.unknown);
    if (faults.length) return `Not decided: look at ${named(faults)}.`;
    if (data.refuses.missing && holes.length) {
      return `Not decided: ${named(holes)} has no value, and this model was told to refuse missing ` +
        "values (missing='error'). Fill in the field.";
    }
    if (data.refuses.unknown && strange.length) {
      return `Not decided: ${named(strange)} has a value that the model never saw, and it was told to ` +
        "refuse such values (unknown='error'). Choose a listed one.";
    }
    const blank = [...holes, ...strange];
    if (!data.with_holes && blank.length) {
      return `Not decided: ${named(blank)} has no value that the model knows, and this page decides whole ` +
        "rows only. Fill in the field; sortal predict decides rows with missing values, too.";
    }
    return "";
  }

  function decide(cells) {
    const error = refusal(cells);
    return error ? { error } : { ...model(cells), error };
  }

  root.decide = (values) => {
    const found = decide(fields.map((field, f) => cellOf(f, values[field.name])));
    return found.error ? found : { ...found, said: classes[found.label] };
  };

  // --- What is shown ---

  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const inputs = fields.map((_, f) => root.querySelector(`[data-field="${f}"]`));
  const form = part("form"), said = part("said"), shown = part("shown"), start = part("start");
  const MOST_CLASSES = 12, MOST_PARTS = 12;

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function numberText(x, sign = "") {
    const size = Math.abs(x), plain = size === Infinity ? "∞" : String(Number(size.toPrecision(4)));
    return (x < 0 && plain !== "0" ? "−" : plain === "0" ? "" : sign) + plain;
  }

  const countText = (n) => String(Number.isInteger(n) ? n : Number(n.toPrecision(6)));

  // Three digits, or as many as it takes not to call a share none or all that is neither.
  function shareText(p) {
    if (p > 0 && p < 1e-6) return "< 0.000001";
    if (p < 1 && p > 1 - 1e-6) return "> 0.999999";
    for (let digits = 3; digits < 16; digits++) {
      const text = p.toFixed(digits);
      if (p === 0 || p === 1 || (Number(text) > 0 && Number(text) < 1)) return text;
    }
    return "1.000";
  }

  const amountText = (x) => (x < 0 ? "−" : "") + shareText(Math.abs(x));

  // A bar from `from` to `to`, both shares of its room.
  function bar(from, to, color, side = "") {
    const fill = make("span", { class: `fill ${side}` });
    fill.style.left = `${100 * Math.min(from, to)}%`;
    if (from === to) fill.hidden = true;
    fill.style.width = `${100 * Math.abs(to - from)}%`;
    if (color) fill.style.backgroundColor = color;
    return make("span", { class: side ? "bar middle" : "bar", "aria-hidden": "true" }, fill);
  }

  const cell = (...children) => make("td", {}, ...children);
  const amountCell = (text) => make("td", { class: "amount" }, text);

  function tableOf(caption, heads, rows) {
    if (heads.at(-1) === "Note" && rows.every((cells) => !cells.at(-1).textContent)) {
      return tableOf(caption, heads.slice(0, -1), rows.map((cells) => cells.slice(0, -1)));
    }
    const amounts = rows[0].map((one) => one.className);
    const head = make("tr", {}, ...heads.map((text, j) =>
      (text ? make("th", { scope: "col", class: amounts[j] }, text) : cell())));
    const table = make("table", {}, make("caption", {}, caption), make("thead", {}, head));
    table.append(make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells))));
    return make("div", { class: "wide" }, table);
  }

  function classTable({ label, probabilities, functions }) {
    const values = probabilities || functions, order = [...everyClass];
    order.sort((a, b) => difference(values[b], values[a]) || a - b);
    const rows = order.slice(0, MOST_CLASSES).map((k) => {
      const name = make(k === label ? "strong" : "span", {}, classes[k]);
      if (!probabilities) return [cell(name), amountCell(numberText(values[k]))];
      return [cell(name), amountCell(shareText(values[k])), cell(bar(0, values[k], data.colors[k]))];
    });
    const rest = order.slice(MOST_CLASSES), words = `${rest.length} more ${rest.length === 1 ? "class" : "classes"}`;
    if (rest.length && probabilities) {
      const p = sum(rest.map((k) => values[k]));
      rows.push([cell(words), amountCell(shareText(Math.min(p, 1))), cell(bar(0, p, ""))]);
    } else if (rest.length) rows.push([cell(words), amountCell("lower")]);
    const heads = probabilities ? ["Class", "Probability", ""] : ["Class", data.words.function];
    return tableOf(probabilities ? "Probability of each class" : data.words.functions, heads, rows);
  }

  const marks = {
    missing: data.words.hole || "missing", unknown: "not known to the model", constant: "the same in all rows",
    "unseen cell": "no row of the fit has all of these together",
  };

  function partsTable(found, cells) {
    const { label, against, offset, cost, total, parts } = found;
    const finite = [offset, cost, total, ...parts.map((p) => p.amount)].filter(Number.isFinite).map(Math.abs);
    const largest = Math.max(...finite, Number.MIN_VALUE);
    const signed = (x) => cell(bar(0.5, 0.5 + Math.max(-1, Math.min(1, x / largest)) / 2, "",
      x < 0 ? "against" : "for"));
    const tidy = (x) => (Math.abs(x) < 1e-12 * largest ? 0 : x); // what is left is rounding
    const row = (name, value, x, mark, tag = "span") => [
      cell(make(tag, {}, name)), cell(value), amountCell(numberText(tidy(x), "+")), signed(tidy(x)),
      cell(mark),
    ];
    const nameOf = (p) => (p.fields || [p.field]).map((f) => fields[f].label).join(", ");
    const valueOf = (p) => (p.fields || [p.field]).map((f) => cells[f].text || "?").join(", ");
    const order = [...parts].sort((a, b) => difference(Math.abs(b.amount), Math.abs(a.amount)));
    const rows = order.map((p) => row(nameOf(p), valueOf(p), p.amount, marks[p.mark] || ""));
    const rest = rows.splice(rows.length > MOST_PARTS + 1 ? MOST_PARTS : rows.length);
    const left = sum(order.slice(rows.length).map((p) => p.amount));
    if (rest.length) rows.push(row(`${rest.length} more columns, listed below`, "", left, ""));
    rows.unshift(row(data.words.offset, "", offset, ""));
    if (cost !== undefined) rows.push(row("costs", "", cost, ""));
    rows.push(row("total", "", total, found.possible === false ? "impossible row" : "", "strong"));
    const caption = `Why ${classes[label]} and not ${classes[against]}: ${data.words.amount}; ` +
      `above 0 speaks for ${classes[label]}`;
    const heads = ["Column", "Value", data.words.unit, "", "Note"];
    const tables = [tableOf(caption, heads, rows)];
    if (rest.length) {
      const more = make("details", {}, make("summary", {}, `The other ${rest.length} columns`));
      more.append(tableOf("The columns that add least", heads, rest));
      tables.push(more);
    }
    return tables;
  }

  function treeMarkText({ mark, node, next }) {
    const then = node === next ? "the row stays here" : "the larger branch is taken";
    return {
      missing: "missing, as in rows of the fit", majority: `missing: ${then}`,
      unseen: `missing, where the fit met none: ${then}`,
      spread: "missing: every branch is taken, by its weight; the heaviest is shown",
      unknown: `never seen in the fit: ${then}`, absent: `not seen at this node: ${then}`,
    }[mark] || "";
  }

  function pathTable({ label, path, start: first, spread, probabilities, ends, node, held, n }, cells) {
    const signed = (x) => cell(bar(0.5, 0.5 + x / 2, "", x < 0 ? "against" : "for"));
    const row = (where, condition, value, x, note) =>
      [cell(where), cell(condition), cell(value), amountCell(amountText(x)), signed(x), cell(note)];
    const rows = path.map((step) => row(step.node, step.condition,
      cells[step.field].text || "?", step.amount, treeMarkText(step)));
    rows.unshift(row("start", "all rows of the fit", "", first, ""));
    if (ends > 1) rows.push(row("", `the other ${ends - 1} ends of the row`, "", spread, ""));
    rows.push(row(node, make("strong", {}, `says ${classes[label]}`),
      `n ${countText(held)} of ${countText(n)}`, probabilities[label], ""));
    const probability = `robability of ${classes[label]}`;
    const heads = ["Node", "Condition met", "Value", `P${probability}`, "", "Note"];
    return [tableOf(`The path of the row, and what each step adds to the p${probability}`,
      heads, rows)];
  }

  function sentence(found) {
    const { label, probabilities, against } = found;
    const p = probabilities ? ` with probability ${shareText(probabilities[label])}` : "";
    const second = against === undefined ? "" : `; next is ${classes[against]}` +
      (probabilities ? ` with ${shareText(probabilities[against])}` : "");
    const cheap = data.costs && probabilities && probabilities[label] < Math.max(...probabilities);
    return [make("strong", {}, classes[label]), `${p}${second}.`,
      cheap ? " It is not the most probable class, but the one of least expected cost." : "",
      found.possible === false ? " No class can have such a row: only the shares of the classes " +
        "are left to go by." : ""];
  }

  // No fault, but worth a thought.
  function beyond(f, { x, hole }) {
    const [low, high] = fields[f].range || [-Infinity, Infinity];
    return !hole && (x < low || x > high) ? "outside of what the model learned from" : "";
  }

  function show(cells) {
    cells.forEach((cell, f) => {
      const told = root.querySelector(`[data-fault="${f}"]`), words = cell.fault || beyond(f, cell);
      if (told.textContent !== words) told.textContent = words;
      told.classList.toggle("mild", !cell.fault);
      if (cell.fault) inputs[f].setAttribute("aria-invalid", "true");
      else inputs[f].removeAttribute("aria-invalid");
    });
    const found = decide(cells);
    shown.replaceChildren();
    root.dataset.said = found.error ? "" : classes[found.label];
    if (data.kind === "tree") light(found.error ? [] : found.nodes);
    if (found.error) return said.replaceChildren(found.error);
    said.replaceChildren("The model says ", ...sentence(found));
    shown.append(classTable(found));
    shown.append(...(data.kind === "tree" ? pathTable(found, cells) : partsTable(found, cells)));
    return found;
  }

  function light(nodes) {
    const detail = { name: data.name, nodes };
    root.ownerDocument.dispatchEvent(new CustomEvent("sortal:path", { detail }));
  }

  const again = () => show(fields.map((_, f) => typedCell(f)));

  function fill(values) {
    inputs.forEach((input, f) => (input.value = values[f]));
    again();
  }

  for (const element of root.querySelectorAll("[data-script]")) {
    element.hidden = element.dataset.script === "off";
  }
  form.addEventListener("input", (event) => {
    if (event.target === start) return;
    if (start) start.value = "";
    again();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  start?.addEventListener("change", () => start.value && fill(data.starts[Number(start.value)]));
  part("clear").addEventListener("click", () => {
    if (start) start.value = "";
    fill(fields.map(() => ""));
  });
  if (data.starts.length) fill(data.starts[0]);
  else again();
}
