// Numbers for deciding: arrays as they come, vectors, and directions in which classes vary.
function decideNumbers() {
  "use strict";
  const EPS = 2 ** -52;

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

  function survey(W, between, magnitude, settled = false) {
    const digits = (i) => (settled ? 0 : (4 * EPS * magnitude[i]) ** 2);
    const n = W.length, varies = [...W.keys()].filter((i) => W[i][i] > digits(i));
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
    const steep = new Float64Array(n); // what the last digits of a flat direction may amount to
    vectors.forEach((vector, m) => {
      if (!(values[m] > least)) none.push(vector);
      else {
        sphere.push(place(vector.map((x, a) => x / Math.sqrt(values[m]) / scale[a])));
        sphere.at(-1).forEach((x, i) => (steep[i] += x * x / values[m]));
      }
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
    const far = size.map((x, i) => x * Math.sqrt(steep[i])), wide = place(scale);
    return { sphere, flat, logDet, ...partOf(flat, between, size, magnitude, wide, far) };
  }

  function partOf(flat, between, size, magnitude, wide, far) {
    const { values, vectors } = singular(flat.map((f) => between.map((b) => dot(b, f))));
    const n = size.length, apart = [], spread = [];
    vectors.forEach((turned, m) => {
      const direction = combine(turned, flat, n), amounts = direction.map(Math.abs);
      const noise = 8 * n * EPS * dot(amounts, size) ** 2;
      const digits = (4 * EPS * dot(amounts, magnitude)) ** 2;
      const length = Math.hypot(...direction.map((x, i) => x * wide[i]));
      const ways = sum([...far].filter((_, i) => direction[i] !== 0));
      const unsure = (64 * n * EPS * length * ways) ** 2;
      if (!(values[m] ** 2 > Math.max(noise, digits, unsure))) return;
      apart.push(direction);
      spread.push(values[m] ** 2);
    });
    return { apart, spread };
  }

  // --- Covariances over terms from which the others follow: as in discriminants/gaussian.py ---

  // Given the directions that stand still; of tied terms those of the largest size are dropped.
  function keptTerms(flat, size) {
    const kept = [...size.keys()], ties = kept.map((i) => flat.map((f) => f[i] * size[i]));
    flat.forEach(() => {
      const lengths = kept.map((i) => Math.hypot(...ties[i])), most = Math.max(...lengths);
      const [first] = kept.splice(lengths.indexOf(most), 1), unit = ties[first].map((x) => x / (most || 1));
      kept.forEach((i) => add(ties[i], unit, -dot(ties[i], unit)));
    });
    return kept;
  }

  // ln |det| of a matrix, given its rows.
  function logAbsDet(rows) {
    const lengths = rows.map((row) => Math.hypot(...row) || 1);
    const open = rows.map((row, i) => Array.from(row, (x) => x / lengths[i]));
    let total = sum(lengths.map(Math.log));
    for (let c = 0; open.length; c++) {
      const sizes = open.map((row) => Math.abs(row[c]));
      const [found] = open.splice(sizes.indexOf(Math.max(...sizes)), 1);
      total += Math.log(Math.abs(found[c]));
      for (const row of open) add(row, found, -row[c] / found[c]);
    }
    return total;
  }

  const rowsOf = (columns, places) => places.map((i) => columns.map((column) => column[i]));

  // ln of the share that lengths along all terms keep where only those kept are looked at.
  function volume(flat, kept) {
    const n = flat.length ? flat[0].length : 0, dropped = [...Array(n).keys()].filter((i) => !kept.includes(i));
    return logAbsDet(rowsOf(flat, dropped));
  }

  // ln det of the covariance with such a sphere, along what does not stand still.
  function logVolume(sphere, flat) {
    const kept = keptTerms(flat, flat[0].map(() => 1));
    return -2 * logAbsDet(rowsOf(sphere, kept)) + 2 * volume(flat, kept);
  }

  // A root of a covariance that has an inverse over the terms kept, and ln det as above; at right
  // angles to what stands still, if last digits of numbers of such a size allow that.
  function regularRoot(sigma, kept, flat, size) {
    const scale = kept.map((i) => Math.sqrt(sigma[i][i] > 0 ? sigma[i][i] : 1));
    const { values, vectors } = eigen(
      kept.map((i, a) => kept.map((j, b) => sigma[i][j] / (scale[a] * scale[b]))),
    );
    const floor = EPS * Math.max(1, ...values), sizes = values.map((x) => Math.max(x, floor));
    const root = vectors.map((vector, m) => {
      const made = new Float64Array(sigma.length);
      vector.forEach((x, a) => (made[kept[a]] = x / Math.sqrt(sizes[m]) / scale[a]));
      return made;
    });
    const away = root.map((r) => combine(flat.map((f) => dot(f, r)), flat, r.length));
    const lost = EPS * Math.max(0, ...away.map((r) => dot(r.map(Math.abs), size)));
    if (lost <= 1e-8) root.forEach((r, m) => add(r, away[m], -1));
    const logDet = sum(sizes.map(Math.log)) + 2 * sum(scale.map(Math.log)) - 2 * volume(flat, kept);
    return { root, logDet };
  }

  return {
    EPS, unpackAll, sum, some, block, columnsOf, dot, add, combine, survey, keptTerms, logVolume, regularRoot,
  };
}
