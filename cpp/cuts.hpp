// Cuts: the best x <= v of a column of which only counts by bin are known.
//
// Between two bins the key of a cut follows from the counts. Within a bin it depends on the order
// of the bin's rows, but every key there is bounded: keys are convex in the units on the yes side,
// and these lie in the box from the units before the bin to those after it. Only bins whose bound
// reaches what is already found have to be sorted: 1,879 bins for the 253 tests of depth 8 on
// 500,000 x 20 numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
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

// Bounds that are linear in the units of each class, but for rounding.
//
// Gini: let a side with shares q and n_q units give t units with shares s to a side with shares p and
// n_p units. The key then changes by t (u |q - s|^2 - v |p - s|^2), u = n_q / (n_q - t) and
// v = n_p / (n_p + t), which is t (u g.s + (u - v) |p - s|^2) with g_k = |q|^2 - |p|^2 - 2 (q_k - p_k).
// As t |p - s|^2 is at most the sum of t s_k (1 - 2 p_k + |p|^2), the change is at most linear in the
// units of each class. It is looked at from both ends of the bin; no key changes by more than 2 a
// unit, hence the quick bound.
inline double largest_rise(const Whole& w, const Between& b, bool upwards) {
    const auto inside = static_cast<double>(b.n_inside), n = static_cast<double>(w.n);
    const double n_yes = static_cast<double>(b.n_before) + (upwards ? 0.0 : inside);
    const double n_p = upwards ? n_yes : n - n_yes, n_q = n - n_p;
    if (n_q <= inside) return std::numeric_limits<double>::infinity();
    const auto shares = [&](std::int64_t k) {
        const auto yes = static_cast<double>(b.before[k] + (upwards ? 0 : b.inside[k]));
        const double no = static_cast<double>(w.counts[k]) - yes;
        const double to = upwards ? yes : no, from = upwards ? no : yes;
        return std::pair{n_p > 0 ? to / n_p : 0.0, from / n_q};
    };
    double square_p = 0.0, square_q = 0.0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        const auto [p, q] = shares(k);
        square_p += p * p;
        square_q += q * q;
    }
    const double u = n_q / (n_q - inside), v = n_p / (n_p + inside);
    double rise = 0.0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        if (b.inside[k] == 0) continue;
        const auto [p, q] = shares(k);
        const double g = square_q - square_p - 2.0 * (q - p);
        const double slope = n_p > 0 ? (g > 0 ? u * g : g) + (u - v) * (1.0 - 2.0 * p + square_p)
                                     : u * (1.0 - 2.0 * q + square_q);
        rise += static_cast<double>(b.inside[k]) * std::max(0.0, slope);
    }
    return rise;
}

inline double linear_bound(const Gini&, const Whole& w, const Between& b, double need) {
    const auto inside = static_cast<double>(b.n_inside);
    const double quick = 0.5 * (b.key_before + b.key_after) + inside;
    if (quick < need) return quick;
    return std::min({quick, b.key_before + largest_rise(w, b, true),
                     b.key_after + largest_rise(w, b, false)});
}

// Gain: the key is a sum over classes of convex functions of that class's units, below their chords
// over the bin, and a concave function of the rows, below its tangent in the middle of the bin. With
// both it is at most linear in the units, and largest where each class is wholly on its better side.
inline double linear_bound(const Gain& m, const Whole& w, const Between& b, double) {
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
    return bound;
}

// CART: sum over classes of |u|, u = l n - n_k n_l, linear in the units as long as no u changes its
// sign; a class whose u may change it adds at most twice what lies on the other side.
inline double linear_bound(const Cart&, const Whole& w, const Between& b, double) {
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
    return b.key_before + rise + beyond;
}

// A convex function on a box is largest at a corner: where classes are few, all corners are looked at.
constexpr std::int64_t corner_classes = 6;

template <class M>
double corner_bound(const M& measure, const Whole& w, const Between& b) {
    std::int64_t corner[corner_classes];
    double bound = std::max(b.key_before, b.key_after);
    for (std::int64_t c = 1; c + 1 < std::int64_t{1} << w.n_classes; ++c) {
        std::int64_t n_yes = b.n_before;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const std::int64_t more = (c >> k) & 1 ? b.inside[k] : 0;
            corner[k] = b.before[k] + more;
            n_yes += more;
        }
        bound = std::max(bound, measure.key(w, corner, n_yes));
    }
    return bound;
}
// What the rounding of keys may add to a bound.
inline double bound_slack(const Gini&, const Whole& w) {
    return static_cast<double>(w.n) * static_cast<double>(w.n_classes + 64) * 0x1p-50;
}
inline double bound_slack(const Gain&, const Whole& w) {
    return static_cast<double>(16 * (w.n_classes + 2));
}
inline double bound_slack(const Cart&, const Whole& w) {
    const auto n = static_cast<double>(w.n);
    return n * n * static_cast<double>(w.n_classes + 64) * 0x1p-50;
}

// At least the key of every cut within the bin (S 27), or any number below `need` where that is.
template <class M>
double bin_bound(const M& measure, const Whole& w, const Between& b, double need) {
    const double slack = bound_slack(measure, w);
    const double bound = linear_bound(measure, w, b, need - slack) + slack;
    if (bound < need || w.n_classes > corner_classes) return bound;
    return std::min(bound, corner_bound(measure, w, b) + slack);
}

// A cut that may be the node's: after a bin, or within it after its row `place` in order of values.
struct CutRecord {
    static constexpr std::int64_t after = std::numeric_limits<std::int64_t>::max();
    double key;
    std::int64_t n_yes;
    std::int64_t bin;
    std::int64_t place;  // `after`: the cut between this bin and the next that has rows
    double below, above;
    bool holes_yes = false;

    bool operator<(const CutRecord& other) const {
        if (bin != other.bin) return bin < other.bin;
        return place != other.place ? place < other.place : holes_yes && !other.holes_yes;
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
        // twice tau: the node's best may lie where the next power of two makes tau larger
        if (record.key < best && record.key < best - 2.0 * M::tau(best, n_classes)) return;
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
