// A form in which a fitted model decides a typed row, as Python does. `data` holds the model in plain
// numbers, `root` is the element around the form. Nothing is asked from the network.
function startDecide(root, data) {
  "use strict";
  if (!data.model) return; // it was too large for a page
  const EPS = 2 ** -52, TIE = 16 * EPS, { fields, classes } = data, K = classes.length;
  const model = unpackAll(data.model), costs = unpackAll(data.costs);
  const everyClass = [...classes.keys()];
  if (model.whole) model.whole.roots = model.whole.roots.map(columnsOf);

  // --- Numbers as they come ---

  // Lists, or base64 of little-endian float64; with `lower`, rows end at the diagonal, with `mirror`
  // what is above it equals what is below.
  function unpack({ f8, shape, lower, mirror }) {
    const bytes = Uint8Array.from(atob(f8), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    let at = 0;
    function fill(lengths, row) {
      const [n, ...rest] = lengths;
      if (rest.length) return Array.from({ length: n }, (_, i) => fill(rest, i));
      const made = new Float64Array(n), end = lower ? Math.min(row + 1, n) : n;
      for (let i = 0; i < end; i++) made[i] = view.getFloat64(8 * at++, true);
      return made;
    }
    const made = fill(shape, 0);
    if (mirror) for (const A of shape.length === 2 ? [made] : made) {
      A.forEach((row, i) => { for (let j = 0; j < i; j++) A[j][i] = row[j]; });
    }
    return made;
  }

  function unpackAll(item) {
    if (item === null || typeof item !== "object") return item;
    if (Array.isArray(item)) return item.map(unpackAll);
    if ("f8" in item) return unpack(item);
    return Object.fromEntries(Object.entries(item).map(([key, value]) => [key, unpackAll(value)]));
  }

  // --- Vectors; a list of them stands for the columns of a matrix ---

  const sum = (list) => list.reduce((total, x) => total + x, 0);
  const some = (vector, places) => Float64Array.from(places, (i) => vector[i]);
  const block = (A, rows, columns) => rows.map((i) => some(A[i], columns));
  const identity = (n) => Array.from({ length: n }, (_, i) => {
    const row = new Float64Array(n);
    row[i] = 1;
    return row;
  });

  function columnsOf(rows) {
    return Array.from(rows[0] || [], (_, j) => Float64Array.from(rows, (row) => row[j]));
  }

  function dot(a, b) {
    let total = 0;
    for (let i = 0; i < a.length; i++) total += a[i] * b[i];
    return total;
  }

  function add(to, from, factor) {
    for (let i = 0; i < to.length; i++) to[i] += factor * from[i];
  }

  function combine(factors, vectors, n) {
    const made = new Float64Array(n);
    vectors.forEach((vector, m) => add(made, vector, factors[m]));
    return made;
  }

  // Turn two vectors by the angle that makes an entry b between diagonal ones a and c vanish.
  function angle(a, b, c) {
    const half = (c - a) / (2 * b);
    const tangent = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(half, 1));
    const cosine = 1 / Math.hypot(tangent, 1);
    return [cosine, tangent * cosine, tangent];
  }

  function turn(x, y, cosine, sine) {
    for (let i = 0; i < x.length; i++) {
      const a = x[i], b = y[i];
      x[i] = cosine * a - sine * b;
      y[i] = sine * a + cosine * b;
    }
  }

  // Visit pairs p < q again and again, until none of them is turned.
  function sweep(n, visit) {
    for (let round = 0, turned = true; turned && round < 50; round++) {
      turned = false;
      for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) turned = visit(p, q) || turned;
    }
  }

  // Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations.
  function eigen(matrix) {
    const n = matrix.length, A = matrix.map((row) => Float64Array.from(row)), vectors = identity(n);
    const tiny = 1e-3 * EPS * Math.sqrt(sum(A.map((row) => dot(row, row))));
    sweep(n, (p, q) => {
      const a = A[p][p], b = A[p][q], c = A[q][q];
      if (!(Math.abs(b) > tiny)) return false;
      const [cosine, sine, tangent] = angle(a, b, c);
      turn(A[p], A[q], cosine, sine);
      turn(vectors[p], vectors[q], cosine, sine);
      for (let i = 0; i < n; i++) { A[i][p] = A[p][i]; A[i][q] = A[q][i]; }
      A[p][p] = a - tangent * b;
      A[q][q] = c + tangent * b;
      A[p][q] = A[q][p] = 0;
      return true;
    });
    return { values: A.map((row, i) => row[i]), vectors };
  }

  // Singular values and right singular vectors of the matrix with these columns.
  function singular(columns) {
    const U = columns.map((column) => Float64Array.from(column)), vectors = identity(U.length);
    sweep(U.length, (p, q) => {
      const a = dot(U[p], U[p]), b = dot(U[p], U[q]), c = dot(U[q], U[q]);
      if (!(Math.abs(b) > EPS * Math.sqrt(a * c))) return false;
      const [cosine, sine] = angle(a, b, c);
      turn(U[p], U[q], cosine, sine);
      turn(vectors[p], vectors[q], cosine, sine);
      return true;
    });
    return { values: U.map((column) => Math.sqrt(dot(column, column))), vectors };
  }

  // The same span, each vector with a 1 where the others have 0: how one entry follows from others.
  function echelon(vectors) {
    const open = vectors.map((vector) => Float64Array.from(vector)), done = [];
    while (open.length) {
      let row = 0, column = 0;
      open.forEach((vector, r) => vector.forEach((x, c) => {
        if (Math.abs(x) > Math.abs(open[row][column])) [row, column] = [r, c];
      }));
      const [found] = open.splice(row, 1), pivot = found[column];
      found.forEach((x, i) => (found[i] = x / pivot));
      for (const other of [...open, ...done]) {
        add(other, found, -other[column]);
        other[column] = 0;
      }
      done.push(found);
    }
    return done;
  }

  function orthonormal(vectors) {
    const made = [];
    for (const vector of vectors) {
      const next = Float64Array.from(vector);
      const shorten = () => {
        const length = Math.sqrt(dot(next, next)) || 1;
        next.forEach((x, i) => (next[i] = x / length));
      };
      shorten();
      for (let twice = 0; twice < 2; twice++) {
        for (const other of made) add(next, other, -dot(next, other));
        shorten();
      }
      made.push(next);
    }
    return made;
  }

  // --- Directions that vary, stand apart or stand still: number for number as in geometry.py ---

  function survey(W, between, magnitude) {
    const n = W.length, varies = [...W.keys()].filter((i) => W[i][i] > (4 * EPS * magnitude[i]) ** 2);
    const scale = varies.map((i) => Math.sqrt(W[i][i])), sphere = [], none = [];
    const { values, vectors } = eigen(
      varies.map((i, a) => varies.map((j, b) => W[i][j] / (scale[a] * scale[b]))),
    );
    const least = 8 * n * EPS * Math.max(0, ...values);
    const place = (vector) => {
      const made = new Float64Array(n);
      vector.forEach((x, a) => (made[varies[a]] = x));
      return made;
    };
    vectors.forEach((vector, m) => {
      if (!(values[m] > least)) none.push(vector);
      else sphere.push(place(vector.map((x, a) => x / Math.sqrt(values[m]) / scale[a])));
    });
    const rounding = 64 * varies.length * EPS;
    const tied = echelon(none).map((vector) =>
      place(vector.map((x, a) => (Math.abs(x) < rounding ? 0 : x / scale[a]))));
    const fixed = identity(n).filter((_, i) => !varies.includes(i));
    const flat = orthonormal([...fixed, ...tied]);
    for (const vector of sphere) {
      const along = flat.map((other) => dot(vector, other));
      flat.forEach((other, m) => add(vector, other, -along[m]));
    }
    const size = W.map((row, i) => Math.sqrt(row[i] + sum(between.map((b) => b[i] ** 2))));
    const whole = sphere.length === n;
    const logDet = whole ? sum(values.map(Math.log)) + 2 * sum(scale.map(Math.log)) : 0;
    return { sphere, logDet, ...partOf(flat, between, size, magnitude) };
  }

  function partOf(flat, between, size, magnitude) {
    const { values, vectors } = singular(flat.map((f) => between.map((b) => dot(b, f))));
    const n = size.length, apart = [], spread = [];
    vectors.forEach((turned, m) => {
      const direction = combine(turned, flat, n), amounts = direction.map(Math.abs);
      const noise = 8 * n * EPS * dot(amounts, size) ** 2;
      const digits = (4 * EPS * dot(amounts, magnitude)) ** 2;
      if (!(values[m] ** 2 > Math.max(noise, digits))) return;
      apart.push(direction);
      spread.push(values[m] ** 2);
    });
    return { apart, spread };
  }

  // --- Linear functions: offsets and weights where only the terms `o` are known ---

  function gaussian(o, p) {
    const { weight, gap, mean, within, divisor, magnitude } = model.holes, total = sum(weight);
    const m = some(mean, o), gaps = gap.map((g) => some(g, o).map((x, i) => x - m[i]));
    const between = gaps.map((g, k) => g.map((x) => Math.sqrt(weight[k]) * x));
    const found = survey(block(within, o, o), between, some(magnitude, o));
    const apart = found.apart.map((v, i) => {
      const deviation = Math.sqrt(1e-9 * found.spread[i] / total);
      return v.map((x) => x / deviation);
    });
    const roots = [...found.sphere.map((v) => v.map((x) => x * Math.sqrt(divisor))), ...apart];
    const offsets = [], weights = [];
    gaps.forEach((g, k) => {
      const u = roots.map((r) => dot(g, r)), w = combine(u, roots, o.length);
      weights.push(wide(w, o, p));
      offsets.push(weight[k] > 0 ? -0.5 * dot(u, u) - dot(m, w) : -Infinity);
    });
    return { offsets, weights };
  }

  function conditional(o, p) {
    const { total, mean, magnitude } = model.holes, known = new Set(o);
    const rest = [...Array(p).keys()].filter((i) => !known.has(i));
    const nothing = [new Float64Array(o.length)];
    const { sphere } = survey(block(total, o, o), nothing, some(magnitude, o));
    const across = block(total, o, rest), offsets = [], weights = [];
    model.weights.forEach((w, k) => {
      const behind = across.map((row) => dot(row, some(w, rest)));
      const from = combine(sphere.map((s) => dot(s, behind)), sphere, o.length);
      offsets.push(model.offsets[k] + dot(some(mean, rest), some(w, rest)) - dot(some(mean, o), from));
      weights.push(wide(from.map((x, i) => x + w[o[i]]), o, p));
    });
    return { offsets, weights };
  }

  function wide(vector, places, p) {
    const made = new Float64Array(p);
    vector.forEach((x, i) => (made[places[i]] = x));
    return made;
  }

  // --- Quadratic functions: roots and determinants where only the terms `o` are known ---

  function quadratic(o, p) {
    const { into, shapes, present } = model.holes, part = into.map((row) => some(row, o));
    const pooled = o.map((_, i) => Float64Array.from(o, (_, j) => sum(part.map((r) => r[i] * r[j]))));
    const nothing = new Float64Array(o.length), { sphere, logDet } = survey(pooled, [nothing], nothing);
    const out = sphere.map((s) => part.map((row) => dot(row, s)));
    const roots = [], logDets = [];
    shapes.forEach((C, k) => {
      const turned = out.map((x) => C.map((row) => dot(row, x)));
      const { values, vectors } = eigen(out.map((x) => turned.map((y) => dot(x, y))));
      const floor = EPS * Math.max(0, ...values), sizes = values.map((x) => Math.max(x, floor));
      roots.push(vectors.map((v, m) =>
        wide(combine(v.map((x) => x / Math.sqrt(sizes[m])), sphere, o.length), o, p)));
      logDets.push(present[k] ? sum(sizes.map(Math.log)) + logDet : Infinity);
    });
    return { roots, logDets };
  }

  // Each pattern of holes is worked out once.
  const patterns = new Map();
  function where(known, make) {
    const key = known.map(Number).join("");
    const places = [...known.keys()].filter((i) => known[i]);
    if (!patterns.has(key)) patterns.set(key, make(places, known.length));
    return patterns.get(key);
  }

  // --- What is said: number for number as in decision.py and tree_shares.py ---

  function posterior(logJoint, prior) {
    const most = Math.max(...logJoint), peak = most === -Infinity ? 0 : most;
    const near = -TIE * Math.max(1, Math.abs(peak));
    const shares = logJoint.map((x) => (x - peak >= near ? 1 : Math.exp(x - peak))), total = sum(shares);
    return total === 0 ? Array.from(prior) : shares.map((x) => x / total);
  }

  function leading(functions, unit) {
    const peak = Math.max(...functions), enough = peak - TIE * Math.max(unit, Math.abs(peak));
    return functions.findIndex((x) => x >= enough);
  }

  const expected = (shares) => everyClass.map((j) => sum(shares.map((p, i) => p * costs[i][j])));

  function cheapest(shares) {
    const amounts = costs ? expected(shares).map((x) => -x) : shares;
    return amounts.indexOf(Math.max(...amounts));
  }

  function say(shares) {
    const slack = (16 + K) * EPS;
    if (!costs) return shares.findIndex((x) => x >= Math.max(...shares) * (1 - slack));
    const amounts = expected(shares), least = Math.min(...amounts) * (1 + slack);
    return amounts.findIndex((x) => x <= least);
  }

  // The best of the others by the first measure that tells them apart, then by their order.
  function runnerUp(label, ...measures) {
    const others = everyClass.filter((k) => k !== label);
    const better = (a, b) => measures.map((m) => m[a] - m[b]).find((d) => d > 0 || d < 0) > 0;
    return others.reduce((best, k) => (better(k, best) ? k : best), others[0]);
  }

  const difference = (a, b) => (a === b ? 0 : a - b);

  // --- The kinds of models: cells → what is said, and why ---

  // Distances of a row's terms from the center, 0 where nothing is known.
  function termsOf(cells) {
    const z = [], known = [], owner = [];
    cells.forEach((cell, f) => {
      const blank = cell.hole || cell.unknown, count = model.sizes[f];
      for (let v = 0; v < count; v++) {
        const x = fields[f].kind === "category" ? Number(cell.x === v) : cell.x;
        z.push(blank ? 0 : x - model.center[z.length]);
        known.push(!blank);
        owner.push(f);
      }
    });
    return { z, known, owner, whole: known.every(Boolean) };
  }

  function markOf(cell) {
    if (cell.hole) return "missing";
    return cell.unknown ? "unknown" : "";
  }

  // The functions of the classes, and how the difference of two of them is made up.
  function compared(cells, row, functions, differ) {
    const probabilities = model.prior ? posterior(functions, model.prior) : null;
    const label = costs ? cheapest(probabilities) : leading(functions, model.unit);
    const against = runnerUp(label, functions), { offset, byTerm } = differ(label, against);
    const amounts = cells.map(() => 0);
    byTerm.forEach((x, i) => (amounts[row.owner[i]] += x));
    const parts = cells.map((cell, f) => ({ field: f, amount: amounts[f], mark: markOf(cell) }));
    return { label, against, probabilities, functions, offset, parts, total: offset + sum(amounts) };
  }

  const rules = { gaussian, conditional };
  const withPrior = (list) => list.map((x, k) => x + (model.prior ? Math.log(model.prior[k]) : 0));

  function linear(cells) {
    const row = termsOf(cells), { z, known } = row;
    const { offsets, weights } = row.whole ? model : where(known, rules[model.holes.rule]);
    const functions = withPrior(everyClass.map((k) => offsets[k] + dot(z, weights[k])));
    const constants = withPrior(Array.from(offsets));
    return compared(cells, row, functions, (k, l) => {
      const w = z.map((_, i) => weights[k][i] - weights[l][i]);
      const middle = known.map((is, i) => (is ? (model.anchor[k][i] + model.anchor[l][i]) / 2 : 0));
      const offset = constants[k] - constants[l] + dot(middle, w);
      return { offset, byTerm: z.map((x, i) => (x - middle[i]) * w[i]) };
    });
  }

  function quadratics(cells) {
    const row = termsOf(cells), { z, known } = row, { gap } = model;
    let { roots, logDets } = row.whole ? model.whole : where(known, quadratic);
    const from = gap.map((g) => z.map((x, i) => (known[i] ? x - g[i] : 0)));
    const lengths = (far) => roots.map((R, k) => sum(R.map((r) => (dot(from[k], r) / far) ** 2)));
    let squares = lengths(1);
    if (!squares.every(Number.isFinite)) { // beyond 1e150 deviations only who is nearest is left
      if (row.whole) ({ roots, logDets } = where(known, quadratic));
      const all = roots.flatMap((R, k) => R.map((r) => Math.abs(dot(from[k], r))));
      squares = lengths(Math.max(...all, 1e150) / 1e150);
    }
    const functions = withPrior(squares.map((s, k) => -0.5 * (s + logDets[k])));
    const constants = withPrior(Array.from(logDets, (x) => -0.5 * x));
    return compared(cells, row, functions, (k, l) => {
      const [own, other] = [k, l].map((c) => {
        const along = combine(roots[c].map((r) => dot(from[c], r)), roots[c], z.length);
        return from[c].map((x, i) => 0.5 * x * along[i]);
      });
      return { offset: constants[k] - constants[l], byTerm: other.map((x, i) => x - own[i]) };
    });
  }

  function logTerms(cell, f) {
    const zero = everyClass.map(() => 0), { tables, mean, variance, constant } = model;
    if (cell.hole || cell.unknown || constant.includes(f)) return zero;
    if (fields[f].kind === "category") return Array.from(tables[f][cell.x]);
    return zero.map((_, k) => {
      const d = cell.x - mean[f][k];
      return -0.5 * (Math.log(2 * Math.PI * variance[f][k]) + d * d / variance[f][k]);
    });
  }

  function jointTerms(cells, naive) {
    const { places, codes, weight, classWeight, alpha } = model.joint;
    const known = places.map((f, m) => [cells[f].x, m]).filter(([x]) => x >= 0);
    const cell = everyClass.map(() => 0);
    weight.forEach((w, i) => {
      if (known.every(([x, m]) => codes[i][m] === x)) add(cell, w, 1);
    });
    const unseen = sum(cell) === 0;
    const terms = cell.map((n, k) => {
      const all = classWeight[k], backed = n + alpha * Math.exp(naive[k]);
      if (alpha > 0 && n === 0 && backed < 1e-290) {
        return Math.log(alpha) + naive[k] - Math.log(all + alpha);
      }
      if (alpha === 0 && (unseen || all === 0)) return naive[k];
      return Math.log(backed) - Math.log(all + alpha > 0 ? all + alpha : 1);
    });
    return { terms, unseen };
  }

  function bayesParts(cells) {
    const parts = cells.map((cell, f) => {
      const mark = markOf(cell) || (model.constant.includes(f) ? "constant" : "");
      return { fields: [f], terms: logTerms(cell, f), mark };
    });
    const words = parts.filter((_, f) => fields[f].kind === "category");
    if (!model.joint || !words.length) return parts;
    const naive = everyClass.map((k) => sum(words.map((part) => part.terms[k])));
    const { terms, unseen } = jointTerms(cells, naive);
    const mark = unseen ? "unseen cell" : (words.map((part) => part.mark).find(Boolean) || "");
    const joined = { fields: words.flatMap((part) => part.fields), terms, mark };
    return parts.flatMap((part) => (part === words[0] ? [joined] : words.includes(part) ? [] : [part]));
  }

  function bayes(cells) {
    const made = bayesParts(cells), logPrior = Array.from(model.prior, Math.log);
    // added up in Python's order: words before numbers
    const isWord = (part) => fields[part.fields[0]].kind === "category";
    const ordered = [...made.filter(isWord), ...made.filter((part) => !isWord(part))];
    const logJoint = everyClass.map((k) => logPrior[k] + sum(ordered.map((part) => part.terms[k])));
    const probabilities = posterior(logJoint, model.prior), label = cheapest(probabilities);
    const against = runnerUp(label, probabilities, logJoint), bit = Math.log(2);
    const bits = (terms) => difference(terms[label] / bit, terms[against] / bit);
    const parts = made.map(({ fields: list, terms, mark }) => ({
      fields: list, field: list[0], amount: bits(terms), mark,
    }));
    const possible = logJoint.some(Number.isFinite), offset = bits(logPrior);
    const total = offset + (possible ? sum(parts.map((part) => part.amount)) : 0);
    return { label, against, probabilities, functions: logJoint, offset, parts, total, possible };
  }

  // --- Trees ---

  const CUT = 1, SPREAD = -2;
  const shareOf = data.kind === "tree" ? sharesOfNodes() : null;
  const below = model.children;

  function sharesOfNodes() {
    if (model.shares) return model.shares;
    return model.counts.map((row) => Array.from(row, (n) => n / sum(Array.from(row))));
  }

  const pulls = (t) => below[t].map((c) => model.pull[c]);
  const heaviest = (t) => pulls(t).indexOf(Math.max(...pulls(t)));

  // The branch of a row at node t; below 0 it stays there, SPREAD is every branch.
  function branchOf(t, cell) {
    const heavier = model.heavier[t];
    if (cell.hole) return model.missing[t] === -1 ? heavier : model.missing[t];
    if (cell.unknown) return heavier;
    if (model.kind[t] === CUT) return Number(cell.x > model.threshold[t]);
    return model.values[t].find(([code]) => code === cell.x)?.[1] ?? heavier;
  }

  function treeMark(t, cell) {
    if (cell.hole) {
      if (model.missing[t] < 0) return model.missing[t] === SPREAD ? "spread" : "unseen";
      return model.policy === "majority" ? "majority" : "missing";
    }
    if (cell.unknown) return "unknown";
    if (model.kind[t] === CUT) return "";
    return model.values[t].some(([code]) => code === cell.x) ? "" : "absent";
  }

  // Σ part · share over the ends of a row, and how many ends there are.
  function mixed(cells) {
    const total = everyClass.map(() => 0), open = [[0, 1]];
    let ends = 0;
    while (open.length) {
      const [t, part] = open.pop();
      const b = below[t].length ? branchOf(t, cells[model.attribute[t]]) : -1;
      if (b === SPREAD) {
        const weights = pulls(t), all = sum(weights);
        for (let c = weights.length - 1; c >= 0; c--) {
          if (weights[c]) open.push([below[t][c], part * (weights[c] / all)]);
        }
      } else if (b >= 0) open.push([below[t][b], part]);
      else { add(total, shareOf[t], part); ends++; }
    }
    return { total, ends };
  }

  function tree(cells) {
    const { total: probabilities, ends } = mixed(cells), nodes = [0], steps = [];
    for (let t = 0; below[t].length;) {
      const f = model.attribute[t], cell = cells[f], way = branchOf(t, cell);
      const b = way === SPREAD ? heaviest(t) : way, next = b >= 0 ? below[t][b] : t;
      const condition = next === t ? model.stays[t] : model.conditions[next];
      steps.push({ node: t, next, field: f, condition, mark: treeMark(t, cell) });
      if (next === t) break;
      nodes.push(next);
      t = next;
    }
    const end = nodes.at(-1), spreads = model.policy === "fractional";
    const label = spreads ? say(probabilities) : model.label[end], share = (t) => shareOf[t][label];
    const path = steps.map((step) => ({
      ...step, n: model.n[step.node], share: share(step.node),
      amount: share(step.next) - share(step.node),
    }));
    return {
      label, probabilities, node: end, nodes, path, start: share(0), n: model.n[end], ends,
      spread: probabilities[label] - share(end),
    };
  }

  const kinds = { linear, quadratic: quadratics, bayes, tree };

  // --- Cells ---

  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const moment = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?$/;
  const keyOf = (value) => (typeof value === "string" ? `"${value}` : String(Number(value)));
  const codes = fields.map((field) => new Map((field.values || []).map((v, code) => [keyOf(v), code])));

  function daysOf(text) {
    const found = moment.exec(text);
    if (!found) return number.test(text.replace(/ days$/, "")) ? parseFloat(text) : NaN;
    const [year, month, day, hour, minute, second] = found.slice(1, 7).map((x) => Number(x || 0));
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    if (date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) return NaN;
    const rest = (hour * 3600 + minute * 60 + second) * 1e9 + Number((found[7] || "").padEnd(9, 0));
    return date.getTime() / 864e5 + rest / 864e11;
  }

  const hole = (text) => ({ x: NaN, hole: true, unknown: false, text });
  const faulty = (text, fault) => ({ ...hole(text), fault });

  function categoryCell(f, code, text) {
    if (code === null) return { ...hole(text), x: -1 };
    const unknown = code < 0 || (model.unseen?.[f] || []).includes(code);
    return { x: unknown ? -2 : code, hole: false, unknown, text };
  }

  function numberCell(f, text) {
    if (text.trim() === "") return hole("");
    const isDate = fields[f].kind === "date";
    const x = isDate ? daysOf(text.trim()) : number.test(text.trim()) ? Number(text) : NaN;
    const form = isDate ? "a date such as 2024-12-31 or 2024-12-31 18:30" : "a number such as 12.5 or 1e3";
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
      return `Not decided: ${named(blank)} has no value that the model knows. The numbers that a row ` +
        "with holes needs are left out of this page, since they are many: fill in the field, or " +
        "ask predict in Python.";
    }
    return "";
  }

  function decide(cells) {
    const error = refusal(cells);
    return error ? { error } : { ...kinds[data.kind](cells), error };
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

  // Three digits, or as many as it takes not to call a share none or all that is neither.
  function shareText(p) {
    if (p > 0 && p < 1e-6) return p.toExponential(1).replace("e-", " · 10^−");
    for (let digits = 3; digits < 16; digits++) {
      const text = p.toFixed(digits);
      if (p === 0 || p === 1 || (Number(text) > 0 && Number(text) < 1)) return text;
    }
    return "1.000";
  }

  // A bar from `from` to `to`, both shares of its room.
  function bar(from, to, color, side = "") {
    const fill = make("span", { class: `fill ${side}` });
    fill.style.left = `${100 * Math.min(from, to)}%`;
    fill.style.width = `${100 * Math.abs(to - from)}%`;
    if (color) fill.style.backgroundColor = color;
    return make("span", { class: side ? "bar middle" : "bar", "aria-hidden": "true" }, fill);
  }

  const cell = (...children) => make("td", {}, ...children);
  const amountCell = (text) => make("td", { class: "amount" }, text);

  function tableOf(caption, heads, rows) {
    const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
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
    const rest = order.slice(MOST_CLASSES), words = `${rest.length} more classes`;
    if (rest.length && probabilities) {
      const p = sum(rest.map((k) => values[k]));
      rows.push([cell(words), amountCell(shareText(Math.min(p, 1))), cell(bar(0, p, ""))]);
    } else if (rest.length) rows.push([cell(words), amountCell("lower")]);
    const heads = probabilities ? ["Class", "Probability", ""] : ["Class", data.words.function];
    return tableOf(probabilities ? "Probability of each class" : data.words.functions, heads, rows);
  }

  const marks = {
    missing: "missing", unknown: "not known to the model", constant: "the same in all rows",
    "unseen cell": "no row of the fit has all of these together",
  };

  function partsTable(found, cells) {
    const { label, against, offset, total, parts } = found;
    const finite = [offset, total, ...parts.map((p) => p.amount)].filter(Number.isFinite).map(Math.abs);
    const largest = Math.max(...finite, Number.MIN_VALUE);
    const signed = (x) => cell(bar(0.5, 0.5 + Math.max(-1, Math.min(1, x / largest)) / 2, "",
      x < 0 ? "against" : "for"));
    const row = (name, value, x, mark, tag = "span") =>
      [cell(make(tag, {}, name)), cell(value), amountCell(numberText(x, "+")), signed(x), cell(mark)];
    const nameOf = (p) => (p.fields || [p.field]).map((f) => fields[f].label).join(", ");
    const valueOf = (p) => (p.fields || [p.field]).map((f) => cells[f].text || "?").join(", ");
    const order = [...parts].sort((a, b) => difference(Math.abs(b.amount), Math.abs(a.amount)));
    const rows = order.map((p) => row(nameOf(p), valueOf(p), p.amount, marks[p.mark] || ""));
    const rest = rows.splice(rows.length > MOST_PARTS + 1 ? MOST_PARTS : rows.length);
    const left = sum(order.slice(rows.length).map((p) => p.amount));
    if (rest.length) rows.push(row(`${rest.length} more columns, listed below`, "", left, ""));
    rows.unshift(row(data.words.offset, "", offset, ""));
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

  function pathTable({ label, path, start: first, spread, probabilities, ends, node }, cells) {
    const signed = (x) => cell(bar(0.5, 0.5 + x / 2, "", x < 0 ? "against" : "for"));
    const row = (where, condition, value, x, note) =>
      [cell(where), cell(condition), cell(value), amountCell(shareText0(x)), signed(x), cell(note)];
    const rows = path.map((step) => row(`node ${step.node}`, step.condition,
      cells[step.field].text || "?", step.amount, treeMarkText(step)));
    rows.unshift(row("start", "share among all rows of the fit", "", first, ""));
    if (ends > 1) rows.push(row("", `the other ${ends - 1} ends of the row`, "", spread, ""));
    rows.push(row(`node ${node}`, make("strong", {}, `says ${classes[label]}`), "",
      probabilities[label], ""));
    const heads = ["Node", "Condition met", "Value", `Share of ${classes[label]}`, "", "Note"];
    return [tableOf(`The path of the row, and what each step adds to the share of ${classes[label]}`,
      heads, rows)];
  }

  const shareText0 = (x) => (x < 0 ? "−" : "") + shareText(Math.abs(x));

  function sentence(found) {
    const { label, probabilities, against } = found;
    const p = probabilities ? ` with probability ${shareText(probabilities[label])}` : "";
    const second = against === undefined ? "" : `; next is ${classes[against]}` +
      (probabilities ? ` with ${shareText(probabilities[against])}` : "");
    const cheap = costs && probabilities && probabilities[label] < Math.max(...probabilities);
    return [make("strong", {}, classes[label]), `${p}${second}.`,
      cheap ? " It is not the most probable class, but the one of least expected cost." : "",
      found.possible === false ? " No class can have such a row: only the shares of the classes " +
        "are left to go by." : ""];
  }

  function show(cells) {
    cells.forEach((cell, f) => {
      const told = root.querySelector(`[data-fault="${f}"]`);
      if (told.textContent !== (cell.fault || "")) told.textContent = cell.fault || "";
      if (cell.fault) inputs[f].setAttribute("aria-invalid", "true");
      else inputs[f].removeAttribute("aria-invalid");
    });
    const found = decide(cells);
    shown.replaceChildren();
    root.dataset.said = found.error ? "" : classes[found.label];
    if (found.error) return said.replaceChildren(found.error);
    said.replaceChildren("The model says ", ...sentence(found));
    shown.append(classTable(found));
    shown.append(...(data.kind === "tree" ? pathTable(found, cells) : partsTable(found, cells)));
    if (data.kind !== "tree") return found;
    const detail = { name: data.name, nodes: found.nodes };
    root.ownerDocument.dispatchEvent(new CustomEvent("sortal:path", { detail }));
    return found;
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
