// A drawn tree that folds, searches, is pruned and follows a row. `data` lists its items in preorder, one
// array a fact; `root` is the element around it. Nothing is asked from the network.
function showTree(root, data) {
  "use strict";
  const { look } = data, items = [...data.node.keys()];
  const down = data.orientation === "down";
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const view = part("view"), search = part("search"), form = part("form");
  const svg = view.querySelector("svg"), tree = svg.querySelector(".tree");
  const [lines, group] = tree.children;
  const children = items.map(() => []);
  for (const i of items.slice(1)) children[data.parent[i]].push(i);
  const closed = new Set(data.closed);
  const { nested } = data, last = nested ? nested.told.length - 1 : 0;
  let lit = new Set(), hits = [], current = -1, focus = 0, zoom = 1, boxes = [], stop = last;
  let isZoomed = false, sent = null;

  // The slider prunes: a node is a leaf up to the stop where it opens, those below it are gone.
  const isPruned = (i) => stop < last && !data.leaf[i] && nested.opens[i] > stop;
  const isGone = (i) => i > 0 && isPruned(data.parent[i]);
  const isLeaf = (i) => data.leaf[i] || isPruned(i);
  const below = (i) => (isLeaf(i) ? [] : children[i]);
  const isCut = (i) => !isLeaf(i) && (data.cut[i] || closed.has(i));
  const boxOf = (i) => boxes.find((box) => box.at === i);
  const asks = (i) => data.names[data.attribute[i]];
  const says = (i) => data.classes[data.label[i]].name;

  function leavesBelow(i) {
    if (stop === last) return data.leaves[i];
    let count = 0;
    for (let at = i; at < data.end[i]; at = isLeaf(at) ? data.end[at] : at + 1) {
      if (isLeaf(at)) count++;
      else if (data.cut[at]) {
        count += nested.hidden[at].reduce((sum, [from, more]) => sum + (from <= stop && more), 1);
      }
    }
    return count;
  }

  function factsOf(i) {
    const [what, counts] = data.facts[i].split("\n");
    if (data.leaf[i] || stop === last) return data.facts[i];
    if (isPruned(i)) return `leaf: ${says(i)}\n${counts}`;
    return `${what}\n${counts}\n${leavesBelow(i)} leaves below`;
  }

  function linesOf(i) {
    if (isPruned(i)) return [nested.label[data.label[i]], nested.short[i]];
    return isCut(i) ? [...data.lines[i], `+${leavesBelow(i)} more leaves`] : data.lines[i];
  }

  // --- Layout: number for number as in trees/drawing/layout.py ---

  function tidy(under, sizes, gap) {
    const cells = [], contours = [[], []], places = under.map(() => []);
    const cell = (reach, shift, next) => cells.push([reach, shift, next]) - 1;

    // Go down two contours as far as both reach; `visit` sees the reach of each. What is left.
    function together([at, shift], [beside, other], visit) {
      while (at >= 0 && beside >= 0) {
        const [mine, theirs] = [cells[at], cells[beside]];
        visit(mine[0] + shift, theirs[0] + other);
        [at, shift] = [mine[2], shift + mine[1]];
        [beside, other] = [theirs[2], other + theirs[1]];
      }
      return [beside, other];
    }

    function over(near, far) {
      const reaches = [];
      let left = together(near, far, (reach) => reaches.push(reach));
      if (left[0] < 0) return near;
      for (const reach of reaches.reverse()) left = [cell(reach, left[1], left[0]), 0];
      return left;
    }

    function pack(list, side) {
      const found = [0];
      let outline = [contours[side][list[0]], 0];
      for (const c of list.slice(1)) {
        let widest = 0;
        together(outline, [contours[1 - side][c], 0], (a, b) => (widest = Math.max(widest, a + b)));
        found.push(widest + gap);
        outline = over([contours[side][c], widest + gap], outline);
      }
      return found;
    }

    function spread(list) {
      const left = pack(list, 1), last = left.at(-1);
      if (list.length < 3) return left;
      const right = pack([...list].reverse(), 0).reverse();
      return left.map((a, m) => Math.floor((a + last - right[m]) / 2));
    }

    for (let t = under.length - 1; t >= 0; t--) {
      const list = under[t], order = [...list.keys()];
      if (list.length) {
        const found = spread(list), middle = Math.floor((found[0] + found.at(-1)) / 2);
        places[t] = found.map((place) => place - middle);
      }
      for (const [side, sign] of [[1, 1], [0, -1]]) {
        let outline = [-1, 0];
        for (const m of order) {
          outline = over([contours[side][list[m]], sign * places[t][m]], outline);
        }
        contours[side][t] = cell(sizes[t] / 2, outline[1], outline[0]);
        order.reverse();
      }
    }
    const middles = under.map(() => 0);
    under.forEach((list, t) => list.forEach((c, m) => (middles[c] = middles[t] + places[t][m])));
    const least = Math.min(...middles.map((middle, t) => middle - sizes[t] / 2));
    return middles.map((middle) => middle - least);
  }

  function arrange() {
    const shown = [], size = [], starts = [look.margin];
    const isEnd = (i) => isLeaf(i) || closed.has(i);
    for (let i = 0; i < items.length; i = isEnd(i) ? data.end[i] : i + 1) shown.push(i);
    const place = new Map(shown.map((i, m) => [i, m]));
    const under = shown.map((i) => (isEnd(i) ? [] : children[i].map((c) => place.get(c))));
    const heights = shown.map((i) => look.height + (isCut(i) ? look.line : 0));
    const wide = shown.map((i) => Math.max(data.width[i], data.labelWidth[i]));
    const middles = tidy(under, down ? wide : heights, down ? look.beside : look.below);
    shown.forEach((i, m) => {
      const d = data.depth[i];
      size[d] = Math.max(size[d] || 0, down ? heights[m] : data.width[i]);
    });
    for (let d = 0; d + 1 < size.length; d++) {
      const room = down ? look.label : data.room[d + 1] + look.reach;
      starts.push(starts[d] + size[d] + look.drop + look.reach + room);
    }
    return shown.map((i, m) => {
      const width = data.width[i], height = heights[m], start = starts[data.depth[i]];
      const middle = middles[m] + look.margin;
      const [x, y] = down ? [middle - width / 2, start] : [start, middle - height / 2];
      const right = down ? middle + wide[m] / 2 : x + width;
      return { i, x, y, width, height, right, middle, start, end: start + (down ? height : width) };
    });
  }

  // --- Drawing: the same elements as in trees/drawing/svg.py ---

  function add(parent, tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return parent.appendChild(made);
  }

  function drawEdge(parent, { i, start, middle }, above) {
    const end = down ? start - look.label : start;
    const bus = end - look.reach - (down ? 0 : data.room[data.depth[i]] + look.reach);
    const path = [[above.end, above.middle], [bus, above.middle], [bus, middle], [end, middle]];
    const corners = path.map(([a, b]) => (down ? `${b} ${a}` : `${a} ${b}`));
    const [x, y] = down ? [middle, start - 5] : [bus + look.reach, middle - 4];
    const group = add(parent, "g", { class: "edge" });
    group.at = i;
    add(group, "title", {}, data.sentence[i]);
    add(group, "path", { d: `M${corners.join("L")}` });
    add(group, "text", { class: "label", x, y }, data.condition[i]);
  }

  function drawBox(parent, { i, x, y, width, height }) {
    const leaf = isLeaf(i), { color } = data.classes[data.label[i]];
    const condition = data.sentence[i] ? `, if ${data.sentence[i]}` : "";
    const facts = `node ${data.node[i]}${condition}\n${factsOf(i)}`;
    const group = add(parent, "g", {
      class: leaf ? "box leaf" : "box", transform: `translate(${x} ${y})`, "data-node": data.node[i],
      role: "treeitem", "aria-level": data.depth[i] + 1, tabindex: i === focus ? 0 : -1,
      "aria-label": facts.replaceAll("\n", "; "),
    });
    group.at = i;
    if (below(i).length) group.setAttribute("aria-expanded", !closed.has(i));
    add(group, "title", {}, facts);
    if (isCut(i)) {
      const corner = `Q${width + 4} ${height + 4} ${width + 4} ${height - 2}V6`;
      add(group, "path", { class: "stack", d: `M6 ${height + 4}H${width - 2}${corner}` });
    }
    const [fill, stroke] = leaf ? [color, color] : ["currentColor", look.gray];
    add(group, "rect", { class: "frame", width, height, rx: 6, fill, stroke });
    linesOf(i).forEach((line, row) => {
      const place = { class: ["name", "fact", "more"][row], x: look.pad, y: [17, 32, 46][row] };
      add(group, "text", place, line);
    });
    add(group, "text", { class: "number", x: width - look.pad, y: 16 }, data.node[i]);
    drawBar(group, i, width - 2 * look.pad, height - 12);
    return group;
  }

  function drawBar(group, i, room, y) {
    let start = 0, total = 0;
    const put = (end, fill) => {
      const width = Number((end - start).toFixed(1)), x = Number((look.pad + start).toFixed(1));
      if (end > start) add(group, "rect", { x, y, width, height: 6, fill });
      start = end;
    };
    for (const [k, amount] of data.parts[i]) {
      total += amount;
      put(Math.floor(total / data.n[i] * room * 10 + 0.5) / 10, data.classes[k].fill);
    }
    if (data.rest[i]) put(room, look.gray);
  }

  function draw() {
    const held = svg.contains(root.getRootNode().activeElement);
    const shown = arrange(), place = new Map(shown.map((box) => [box.i, box]));
    if (!place.has(focus)) focus = 0;
    lines.replaceChildren();
    group.replaceChildren();
    for (const box of shown.slice(1)) drawEdge(lines, box, place.get(data.parent[box.i]));
    boxes = shown.map((box) => drawBox(group, box));
    const width = Math.max(...shown.map((box) => box.right)) + look.margin;
    const height = Math.max(...shown.map((box) => box.y + box.height)) + look.margin;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    scale(zoom);
    mark();
    if (held) boxOf(focus).focus({ preventScroll: true });
  }

  function mark() {
    const found = new Set(hits);
    for (const box of boxes) {
      box.setAttribute("tabindex", box.at === focus ? 0 : -1);
      box.classList.toggle("lit", lit.has(box.at));
      box.classList.toggle("hit", found.has(box.at));
      box.classList.toggle("current", box.at === current);
    }
    for (const edge of [...lines.children]) {
      if (edge.classList.toggle("lit", lit.has(edge.at))) lines.append(edge); // on top of others
    }
  }

  // Draw again only if something was unfolded.
  function refresh(before) {
    if (closed.size === before) mark();
    else draw();
  }

  function scale(factor) {
    const { width, height } = svg.viewBox.baseVal;
    zoom = Math.min(4, Math.max(0.05, factor));
    svg.setAttribute("width", width * zoom);
    svg.setAttribute("height", height * zoom);
    part("zoom").textContent = `${Math.round(100 * zoom)} %`;
  }

  function fit() {
    const { width, height } = svg.viewBox.baseVal;
    scale(Math.min(view.clientWidth / width, 0.75 * window.innerHeight / height, 1));
  }

  // What the reader zooms to; a point of the view stays where it is, its middle if none is named.
  function zoomTo(factor, x, y) {
    const around = view.getBoundingClientRect(), before = svg.getBoundingClientRect();
    if (x === undefined) [x, y] = [around.left + around.width / 2, around.top + around.height / 2];
    const [u, v] = [(x - before.left) / before.width, (y - before.top) / before.height];
    isZoomed = true;
    scale(factor);
    const after = svg.getBoundingClientRect();
    view.scrollBy(after.left + u * after.width - x, after.top + v * after.height - y);
  }

  // A tree that is too wide is made smaller, as long as it can be read.
  function begin() {
    const { width } = svg.viewBox.baseVal;
    if (!isZoomed) scale(Math.min(1, Math.max(0.6, view.clientWidth / width)));
    show(0);
  }

  // Bring a box into view, to its middle if it is outside. The page around does not move.
  function show(i) {
    const box = boxOf(i).getBoundingClientRect(), around = view.getBoundingClientRect();
    const step = (low, high, from, to) =>
      low >= from && high <= to ? 0 : (low + high - from - to) / 2;
    view.scrollBy(
      step(box.left, box.right, around.left, around.right),
      step(box.top, box.bottom, around.top, around.bottom),
    );
  }

  // --- Folding ---

  function toggle(i) {
    if (!below(i).length) return;
    const before = boxOf(i).getBoundingClientRect();
    if (!closed.delete(i)) closed.add(i);
    focus = i;
    draw();
    const after = boxOf(i).getBoundingClientRect(); // it stays where it was under the pointer
    view.scrollBy(after.left - before.left, after.top - before.top);
  }

  function reveal(i) {
    for (let above = data.parent[i]; above >= 0; above = data.parent[above]) closed.delete(above);
  }

  // Up and down to the box before and after, right into a branch or open it, left out of it.
  function move(key) {
    const at = boxes.indexOf(boxOf(focus)), open = below(focus).length && !closed.has(focus);
    if (key === (open ? "ArrowLeft" : "ArrowRight")) return toggle(focus);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: boxes.length - 1 }[key];
    const box = to === undefined ? boxOf(open ? children[focus][0] : data.parent[focus]) : boxes[to];
    if (!box) return;
    boxOf(focus).setAttribute("tabindex", -1);
    box.setAttribute("tabindex", 0);
    box.focus();
    show(focus);
  }

  // --- Search ---

  function matches(i, words) {
    const has = (text) => text.toLowerCase().includes(words), above = data.parent[i];
    if (words.replace(/^node /, "") === String(data.node[i])) return true;
    if (has(isLeaf(i) ? says(i) : asks(i))) return true;
    return above >= 0 && has(data.sentence[i]) && !has(asks(above)); // what the node above has
  }

  function find() {
    const words = search.value.trim().toLowerCase(), before = closed.size;
    hits = words ? items.filter((i) => !isGone(i) && matches(i, words)) : [];
    hits.forEach(reveal);
    current = -1;
    const count = `${hits.length} node${hits.length === 1 ? "" : "s"}`;
    part("found").textContent = words ? count : "";
    refresh(before);
  }

  function next(step) {
    if (!hits.length) return;
    const before = closed.size;
    const at = current < 0 && step < 0 ? 0 : hits.indexOf(current);
    current = focus = hits[(at + step + hits.length) % hits.length];
    reveal(current);
    refresh(before);
    show(current);
  }

  // --- Following a row ---


  // A number; the place of a category, -1 for one not listed; null if not given, NaN if not read.
  function read(f) {
    const field = root.querySelector(`[data-field="${f}"]`), text = field.value.trim();
    if (field.value === "") return null;
    if (field.tagName === "SELECT") return Number(field.value);
    if (field.list) {
      const values = [...field.list.options].map((option) => option.value);
      return values.indexOf(values.includes(field.value) ? field.value : text);
    }
    return (data.fields[f].kind === "date" ? readDays : readNumber)(text);
  }

  function branch(asked, x) {
    if (Array.isArray(asked)) return asked.findIndex((codes) => codes.includes(x));
    return +(asked !== null && x > asked);
  }

  // `met` are the nodes that did not know the value, or where it was missing, with a mark of why.
  function walk() {
    const path = [0], met = [];
    for (let i = 0; data.tests[i] && !isLeaf(i); path.push(i)) {
      const [f, asked, heavier, hole, mark] = data.tests[i], x = read(f);
      const given = x !== null;
      if (Number.isNaN(x) || (!given && !mark)) return { path, met, field: f, unread: given };
      let b = given ? branch(asked, x) : hole;
      if (!given) met.push([i, mark]);
      else if (b < 0 || (x < 0 && data.fields[f].kind === "category")) {
        met.push([i, "unlisted"]);
        b = heavier;
      }
      if (b < 0) return { path, met, stays: true };
      i = children[i][b];
    }
    return { path, met };
  }

  // What happened at a node that did not know the value.
  function tell([i, mark], stays) {
    const node = `at node ${data.node[i]}`, hole = `${asks(i)} is missing ${node}`;
    const then = stays ? "the row stays there" : "the larger branch is taken";
    return {
      missing: `${hole}, as in rows of the fit`,
      majority: `fallback: ${hole}, ${then}`,
      unseen: `fallback: ${hole}, where the fit met none, ${then}`,
      spread: `fallback: ${hole}, every branch is taken by its weight`,
      unlisted: `fallback: value not listed ${node}, ${then}`,
    }[mark];
  }

  const holdsOf = (i) => `(${data.facts[i].split("\n")[1]})`;

  function follow() {
    const asked = data.given || data.fields.some((_, f) => read(f) !== null), before = closed.size;
    const { path, met, stays, field, unread } = walk(), at = path.at(-1);
    sent = null;
    lit = new Set(asked ? path : []);
    lit.forEach(reveal);
    const node = `node ${data.node[at]}`, holds = holdsOf(at);
    let said = `${node} says ${says(at)} ${holds}`;
    if (field !== undefined) {
      const why = unread ? "cannot be read" : "is not given";
      said = `${data.names[data.fields[field].name]} ${why}; so far ${node} ${holds}`;
    } else if (data.cut[at] && !isLeaf(at)) said = `${node} ${holds}; the rest is not drawn`;
    else if (met.some(([, mark]) => mark === "spread")) {
      said = `the heaviest branches end at ${node} ${holds}; the class follows from all ends ` +
        "together, which predict_proba weighs";
    }
    for (const one of met) said += `; ${tell(one, stays && one[0] === at)}`;
    if (stop < last) said += `; so says the tree of ${nested.leaves[stop]}`;
    answer(asked ? said : "", field === undefined ? data.node[at] : "");
    refresh(before);
    if (asked) show(at);
  }

  function answer(said, node) {
    part("result").textContent = said;
    part("result").dataset.node = node;
  }

  // Light the nodes that another part of the page says; those of all ways, where there are several.
  function light(nodes) {
    const places = new Map(data.node.map((node, i) => [node, i])), before = closed.size;
    const path = nodes.map((node) => places.get(node)).filter((i) => i >= 0 && !isGone(i));
    sent = nodes;
    lit = new Set(path);
    lit.forEach(reveal);
    const ends = path.filter((i) => !below(i).some((c) => lit.has(c))), at = ends.at(-1);
    const rest = path.length < nodes.length;
    refresh(before);
    if (at === undefined) return answer("", "");
    const names = ends.map((i) => data.node[i]), final = rest ? nodes.at(-1) : data.node[at];
    // where holes take every branch by its weight, the class follows from all ends together
    let said = `the ${data.spreads ? "heaviest way" : "row"} ends at node ${final}`;
    if (ends.length > 1) said = `the row goes every way, to nodes ${names.join(", ")}`;
    else if (rest) said += `; drawn as far as node ${data.node[at]} ${holdsOf(at)}`;
    else said += data.spreads ? ` ${holdsOf(at)}` : `, which says ${says(at)} ${holdsOf(at)}`;
    if (rest) said += stop < last ? "; the rest is pruned here" : "; the rest is not drawn";
    answer(said, final);
    show(at);
  }

  // --- Pruning ---

  // The depth from which on nodes are folded, so that there are few ends; as in trees/drawing/html.py.
  function foldDeep() {
    const nodes = [], ends = [];
    for (const i of items.filter((i) => !isGone(i))) {
      const d = data.depth[i];
      nodes[d] = (nodes[d] || 0) + 1;
      ends[d] = (ends[d] || 0) + (isLeaf(i) || data.cut[i] ? 1 : 0);
    }
    let above = 0, depth = -1;
    nodes.forEach((count, d) => {
      if (count + above <= data.few) depth = d;
      above += ends[d];
    });
    closed.clear();
    for (const i of items) {
      if (!isLeaf(i) && !data.cut[i] && data.depth[i] >= Math.max(1, depth)) closed.add(i);
    }
  }

  function prune(to) {
    stop = to;
    part("told").textContent = nested.told[stop];
    part("stop").setAttribute("aria-valuetext", nested.told[stop]);
    part("now").setAttribute("transform", `translate(${nested.at[stop].join(" ")})`);
    foldDeep();
    lit = new Set([...lit].filter((i) => !isGone(i)));
    draw();
    begin();
    if (search.value) find();
    if (sent) light(sent);
    else if (form) follow();
  }

  // --- What the reader does ---

  const acts = {
    out: () => zoomTo(zoom / 1.25), in: () => zoomTo(zoom * 1.25), whole: () => zoomTo(1),
    fit: () => { isZoomed = true; fit(); },
    unfold: () => { closed.clear(); draw(); },
    fold: () => { items.forEach((i) => i && below(i).length && closed.add(i)); draw(); },
  };
  const keys = { "+": "in", "=": "in", "-": "out", "−": "out", 0: "whole" };
  for (const button of root.querySelectorAll("[data-do]")) {
    button.addEventListener("click", acts[button.dataset.do]);
  }
  tree.addEventListener("click", (event) => {
    const box = event.target.closest(".box");
    if (box && !dragged && String(window.getSelection()) === "") toggle(box.at); // words can be selected
  });
  tree.addEventListener("focusin", (event) => (focus = event.target.at));
  tree.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") toggle(focus);
    else if (/^(Arrow.*|Home|End)$/.test(event.key)) move(event.key);
    else return;
    event.preventDefault();
    event.stopPropagation(); // a notebook has plans of its own for these keys
  });
  view.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    acts[keys[event.key]]();
    event.preventDefault();
    event.stopPropagation();
  });
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault(); // the page would be zoomed
    zoomTo(zoom * Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
  }, { passive: false });

  // A mouse drags the drawing, except by its words, which it selects; a finger scrolls anyway.
  let dragged = false;
  view.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.button || event.pointerType !== "mouse" || event.target.closest("text")) return;
    let { clientX: x, clientY: y } = event;
    const drag = (moved) => {
      const [right, low] = [moved.clientX - x, moved.clientY - y];
      if (!dragged && Math.hypot(right, low) < 4) return;
      if (!dragged) view.setPointerCapture(moved.pointerId); // what is under it sees no click
      dragged = true;
      view.scrollBy(-right, -low);
      [x, y] = [moved.clientX, moved.clientY];
    };
    const drop = () => view.removeEventListener("pointermove", drag);
    view.addEventListener("pointermove", drag);
    for (const end of ["pointerup", "pointercancel"]) view.addEventListener(end, drop, { once: true });
    event.preventDefault(); // nothing is selected
  });
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    next(event.shiftKey ? -1 : 1);
  });
  for (const element of root.querySelectorAll("[hidden]")) element.hidden = false;
  svg.setAttribute("role", "tree");
  lines.setAttribute("aria-hidden", true);
  draw();
  if (view.clientWidth) begin();
  else { // it is in something closed
    new ResizeObserver((_, watch) => {
      if (!view.clientWidth) return;
      watch.disconnect();
      begin();
    }).observe(view);
  }
  root.ownerDocument.addEventListener("sortal:path", ({ detail }) => {
    if (detail.name === data.model) light(detail.nodes);
  });
  if (nested) {
    const slider = part("stop");
    slider.setAttribute("aria-valuetext", nested.told[last]);
    slider.addEventListener("input", () => prune(Number(slider.value)));
  }
  if (!form) return;
  form.addEventListener("input", follow);
  form.addEventListener("submit", (event) => event.preventDefault());
  follow();
}
