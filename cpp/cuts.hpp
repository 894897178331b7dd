// Cuts: the best x <= v of a column of which only counts by bin are known.
//
// Between two bins the key of a cut follows from the counts. Within a bin it depends on the order
// of the bin's rows, but every key there is bounded: keys are convex in the units on the yes side,
// and these lie in the box from the units before the bin to those after it. Only bins whose bound
// reaches what is already found have to be sorted, about four a node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "scoring.hpp"

namespace sortal {

// A bin between two cuts: `before` units lie below it, `inside` in it; the keys of the cuts at both
// ends, which are base where nothing lies on one side.
struct Between {
    const std::int64_t* before;
    const std::int64_t* inside;
    std::int64_t n_before;
    std::int64_t n_inside;
    double key_before;
    double key_after;
};

// At least the key of every cut within the bin; any number below `need` will do for one below it.
//
// Gini: the derivative of the key by units of class k on the yes side is g = (2 p_k - P) - (2 q_k - Q)
// with shares p, q of both sides and P, Q the sums of their squares. As the key is convex, it rises
// from the cut before the bin by at most the sum over classes of units times the largest g in the
// box. No g lies beyond 2, hence the quick bound.
inline double bin_bound(const Gini&, const Whole& w, const Between& b, double need) {
    const auto inside = static_cast<double>(b.n_inside), n = static_cast<double>(w.n);
    const double slack = n * 0x1p-44;
    const double quick = 0.5 * (b.key_before + b.key_after) + inside + slack;
    if (quick < need) return quick;
    const auto n_l = static_cast<double>(b.n_before), n_r = n - n_l;
    double least_p = 0.0, most_q = 0.0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        const auto l = static_cast<double>(b.before[k]), h = static_cast<double>(b.inside[k]);
        const double r = static_cast<double>(w.counts[k]) - l, others = inside - h;
        const double p = n_l + others > 0 ? l / (n_l + others) : 0.0;
        const double q = n_r - others > 0 ? r / (n_r - others) : 1.0;
        least_p += p * p;
        most_q += std::min(q, 1.0) * std::min(q, 1.0);
    }
    most_q = std::min(most_q, 1.0);
    double rise = 0.0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        const auto l = static_cast<double>(b.before[k]), h = static_cast<double>(b.inside[k]);
        if (h == 0.0) continue;
        const double r = static_cast<double>(w.counts[k]) - l;
        const double p = (l + h) / (n_l + h);
        const double q = n_r - h > 0 ? (r - h) / (n_r - h) : 0.0;
        rise += h * std::max(0.0, (2.0 * p - least_p) - (2.0 * q - most_q));
    }
    return std::min(quick, b.key_before + rise + slack);
}

// Gain: the key is a sum over classes of convex functions of that class's units, below their chords
// over the bin, and a concave function of the rows, below its tangent in the middle of the bin. With
// both it is at most linear in the units, and largest where each class is wholly on its better side.
inline double bin_bound(const Gain& m, const Whole& w, const Between& b, double) {
    const Logs& logs = *m.logs;
    const auto size_term = [&](std::int64_t t) {
        return static_cast<double>(-logs(b.n_before + t) - logs(w.n - b.n_before - t));
    };
    const std::int64_t middle = b.n_inside / 2;
    const double ratio = static_cast<double>(w.n - b.n_before - middle) /
                         static_cast<double>(b.n_before + middle);
    const double slope = std::ldexp(std::log2(ratio), logs.shift());
    double bound =
        b.key_before - size_term(0) + size_term(middle) - slope * static_cast<double>(middle);
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        const std::int64_t l = b.before[k], h = b.inside[k], r = w.counts[k] - l;
        if (h == 0) continue;
        const double chord = static_cast<double>(logs(l + h) + logs(r - h) - logs(l) - logs(r));
        bound += std::max(0.0, chord + slope * static_cast<double>(h));
    }
    return bound + static_cast<double>(16 * (w.n_classes + 2));  // every logarithm is rounded
}

// CART: sum over classes of |u|, u = l n - n_k n_l, linear in the units as long as no u changes its
// sign; a class whose u may change it adds at most twice what lies on the other side.
inline double bin_bound(const Cart&, const Whole& w, const Between& b, double) {
    const auto n = static_cast<double>(w.n), inside = static_cast<double>(b.n_inside);
    double signed_total = 0.0, beyond = 0.0;
    const auto u_of = [&](std::int64_t k) {
        return static_cast<double>(b.before[k]) * n -
               static_cast<double>(w.counts[k]) * static_cast<double>(b.n_before);
    };
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        const auto n_k = static_cast<double>(w.counts[k]), h = static_cast<double>(b.inside[k]);
        const double u = u_of(k);
        signed_total += u < 0 ? -n_k : n_k;
        const double nearest = u < 0 ? -u - (n - n_k) * h : u - n_k * (inside - h);
        beyond += 2.0 * std::max(0.0, -nearest);
    }
    double rise = 0.0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        const double sign = u_of(k) < 0 ? -1.0 : 1.0;
        rise += static_cast<double>(b.inside[k]) * std::max(0.0, sign * n - signed_total);
    }
    return (b.key_before + rise + beyond) * (1.0 + 0x1p-44) + n * n * 0x1p-44;
}

// A cut that may be the node's: after a bin, or within it after its row `place` in order of values.
struct CutRecord {
    static constexpr std::int64_t after = std::numeric_limits<std::int64_t>::max();
    double key;
    std::int64_t n_yes;
    std::int64_t bin;
    std::int64_t place;  // `after`: the cut between this bin and the next that has rows
    double below, above;

    bool operator<(const CutRecord& other) const {
        return bin != other.bin ? bin < other.bin : place < other.place;
    }
};

// The best cuts of a column: for any target within tau of the best key, the lowest cut that reaches
// it is among the records.
struct Cuts {
    double best = -std::numeric_limits<double>::infinity();
    double sequence_best = best;
    std::vector<CutRecord> records;

    void clear() {
        best = sequence_best = -std::numeric_limits<double>::infinity();
        records.clear();
    }
    // Cuts come in sequences of rising thresholds; one that does not exceed those before it in its
    // sequence can never be the lowest to reach a target.
    void begin_sequence() { sequence_best = -std::numeric_limits<double>::infinity(); }
    template <class M>
    void add(const CutRecord& record, std::int64_t n_classes) {
        if (record.key <= sequence_best) return;
        sequence_best = record.key;
        if (record.key < best - M::tau(best, n_classes)) return;
        best = std::max(best, record.key);
        records.push_back(record);
    }
    const CutRecord* lowest(double target) const {
        const CutRecord* found = nullptr;
        for (const auto& record : records) {
            if (record.key >= target && (!found || record < *found)) found = &record;
        }
        return found;
    }
};

}  // namespace sortal
