// The kinds of models: a row's cells → what is said of it, and why. `data` is what Python's `decider`
// made of a model. A cell has x (a number, or the rank of a category), hole and unknown.
function decideModels(data) {
  "use strict";
  const EPS = 2 ** -52, TIE = 16 * EPS, { fields, classes } = data, K = classes.length;
  const everyClass = [...classes.keys()];

  // --- Numbers as they come: lists, or base64 of little-endian float64 ---

  function unpack({ f8, shape }) {
    const bytes = Uint8Array.from(atob(f8), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    let at = 0;
    const fill = ([n, ...rest]) => (rest.length ? Array.from({ length: n }, () => fill(rest))
      : Float64Array.from({ length: n }, () => view.getFloat64(8 * at++, true)));
    return fill(shape);
  }

  function unpackAll(item) {
    if (item === null || typeof item !== "object") return item;
    if (Array.isArray(item)) return item.map(unpackAll);
    if ("f8" in item) return unpack(item);
    return Object.fromEntries(Object.entries(item).map(([key, value]) => [key, unpackAll(value)]));
  }

  const sum = (list) => list.reduce((total, x) => total + x, 0);

  function dot(a, b) {
    let total = 0;
    for (let i = 0; i < a.length; i++) total += a[i] * b[i];
    return total;
  }

  function add(to, from, factor) {
    for (let i = 0; i < to.length; i++) to[i] += factor * from[i];
  }

  const model = unpackAll(data.model), costs = unpackAll(data.costs);

  // --- What is said: number for number as in decision/posterior.py and trees/model.py ---

  function posterior(logJoint, prior) {
    const most = Math.max(...logJoint), peak = most === -Infinity ? 0 : most;
    const near = -TIE * Math.max(1, Math.abs(peak));
    const shares = logJoint.map((x) => (x - peak >= near ? 1 : Math.exp(x - peak))), total = sum(shares);
    return total === 0 ? Array.from(prior) : shares.map((x) => x / total);
  }

  function leading(functions, unit) {
    const peak = Math.max(...functions), enough = peak - TIE * Math.max(unit, Math.abs(peak));
    return Math.max(0, functions.findIndex((x) => x >= enough));
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

  function logSum(logs) {
    const most = Math.max(...logs);
    return most === -Infinity ? most : most + Math.log(sum(logs.map((x) => Math.exp(x - most))));
  }

  // What costs add to the log-odds of classes a and b, and the sum, in units. (S 57)
  function withCosts(logJoint, a, b, odds, unit) {
    if (!costs) return { total: odds };
    const possible = logJoint.some(Number.isFinite);
    const logP = possible ? logJoint : Array.from(model.prior, Math.log);
    const side = (j, k, from) => logSum(logP.map((p, i) =>
      difference(p, from) + Math.log(Math.max(0, costs[i][k] - costs[i][j]))));
    const peak = Math.max(...logP), gain = side(a, b, peak), loss = side(b, a, peak);
    if (gain > loss && Number.isFinite(logP[a]) && Number.isFinite(logP[b])) {
      const cost = (side(a, b, logP[a]) - side(b, a, logP[b])) / unit;
      return { cost, total: odds + cost };
    }
    const total = difference(gain, loss) / unit;
    return { cost: difference(total, odds), total };
  }

  // --- The kinds of models: cells → what is said, and why ---

  // A row's terms, all of which are known, and the column of each.
  function termsOf(cells) {
    const x = [], owner = [];
    cells.forEach((cell, f) => {
      for (let v = 0; v < model.sizes[f]; v++) {
        x.push(fields[f].kind === "category" ? Number(cell.x === v) : cell.x);
        owner.push(f);
      }
    });
    return { x, owner };
  }

  function markOf(cell) {
    if (cell.hole) return "missing";
    return cell.unknown ? "unknown" : "";
  }

  const withPrior = (list) => list.map((x, k) => x + (model.prior ? Math.log(model.prior[k]) : 0));

  // The functions of the classes, and how the difference of two of them is made up.
  function linear(cells) {
    const { x, owner } = termsOf(cells), { offsets, weights, anchor } = model;
    const z = x.map((v, i) => v - model.center[i]);
    const functions = withPrior(model.nearest ? nearest(x)
      : everyClass.map((k) => offsets[k] + dot(z, weights[k])));
    const probabilities = model.prior ? posterior(functions, model.prior) : null;
    const label = costs ? cheapest(probabilities) : leading(functions, model.unit[0]);
    const against = runnerUp(label, functions), constants = withPrior(Array.from(offsets));
    const w = z.map((_, i) => weights[label][i] - weights[against][i]);
    const middle = z.map((_, i) => (anchor[label][i] + anchor[against][i]) / 2);
    const offset = constants[label] - constants[against] + dot(middle, w);
    const amounts = cells.map(() => 0);
    z.forEach((v, i) => (amounts[owner[i]] += (v - middle[i]) * w[i]));
    const parts = cells.map((cell, f) => ({ field: f, amount: amounts[f], mark: markOf(cell) }));
    const ending = withCosts(functions, label, against, offset + sum(amounts), 1);
    return { label, against, probabilities, functions, offset, parts, ...ending };
  }

  // The same functions up to a common term, where classes lie too far apart for linear ones: squared
  // distances from class means, which are near + rest. Beyond 1e150 only who is nearest is left.
  function nearest(x) {
    const { near, rest, roots } = model.nearest;
    const ways = near.map((center, k) => {
      const d = x.map((v, i) => v - center[i] - rest[k][i]);
      return roots.map((r) => dot(d, r));
    });
    const far = Math.max(1, Math.max(...ways.flat().map(Math.abs)) / 1e150);
    return ways.map((way, k) =>
      (model.offsets[k] > -Infinity ? -0.5 * sum(way.map((v) => (v / far) ** 2)) : -Infinity));
  }

  function logTerms(cell, f) {
    const zero = everyClass.map(() => 0), { tables, mean, tail, variance, constant } = model;
    if (cell.hole || cell.unknown || constant.includes(f)) return zero;
    if (fields[f].kind === "category") return Array.from(tables[f][cell.x]);
    return zero.map((_, k) => {
      const d = (cell.x - mean[f][k]) - tail[f][k];
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
    const odds = offset + (possible ? sum(parts.map((part) => part.amount)) : 0);
    const ending = withCosts(logJoint, label, against, odds, bit);
    return { label, against, probabilities, functions: logJoint, offset, parts, possible, ...ending };
  }

  // --- Trees ---

  const CUT = 1, SPREAD = -2;
  const shareOf = data.kind === "tree" ? sharesOfNodes() : null;
  const below = model.children;

  function sharesOfNodes() {
    return model.shares || model.counts.map((row) => row.map((n) => n / sum(row)));
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
      ...step, n: sum(model.counts[step.node]), share: share(step.node),
      amount: share(step.next) - share(step.node),
    }));
    return {
      label, probabilities, node: end, nodes, path, start: share(0), ends,
      held: model.counts[end][label], n: sum(model.counts[end]),
      spread: probabilities[label] - share(end),
    };
  }

  const kinds = { linear, bayes, tree };

  return kinds[data.kind];
}
