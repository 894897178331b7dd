// The choice of a node's test: best cut, best subset, the choice among equals, the stops.
//
// Words (beyond those of measures.hpp and subsets/subset_contest.hpp)
//   test      what a node asks: cut (X <= v), subset (X in V) or multiway (one branch a value)
//   equal     tests with keys within tau of the largest; the first of them is chosen: the earlier
//             attribute, the smaller threshold, fewer values in V, V's sorted codes
//   floor     the largest key known so far; what cannot come near it need not be searched
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "trees/measures.hpp"
#include "trees/subsets/best_subset.hpp"

namespace sortal::trees {

enum class Kind { leaf, cut, subset, multiway };

struct Rules : Limits {
    Criterion criterion = Criterion::gain;
};

struct Attribute {
    Kind kind;
    std::int64_t m;
    const double* values;        // ascending; of categories the codes
    const std::int64_t* counts;  // counts[v * K + k], no value without units
    const std::int64_t* sizes;   // null where the size of a value is its units
};

// `cut` is the place of the last value that says yes; `yes` holds V's codes. `gain` is the score,
// but for gain_ratio the gain in bits. `key` is the test's own.
struct Test {
    std::int64_t attribute = -1;
    Kind kind = Kind::leaf;
    std::int64_t cut = -1;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::int32_t> yes;
    double key = none;
    double score = 0.0;
    double gain = 0.0;
    bool exact = true;
    double candidates = 0.0;
};

struct Stops {
    std::int64_t leaf_size = 1;
    double purity = 1.0;
    std::int64_t max_depth = -1;  // -1: none
    double min_gain = 0.0;
};

// The stops of (ZM Alg. 19.1) before any test is looked for: size, depth, purity (ZM 19.2).
inline bool is_leaf(const Whole& w, std::int64_t size, std::int64_t depth, const Stops& stops) {
    if (size <= stops.leaf_size || depth == stops.max_depth) return true;
    std::int64_t most = 0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) most = std::max(most, w.counts[k]);
    return static_cast<double>(most) / static_cast<double>(w.n) >= stops.purity;
}

// x as its first 15 significant digits say.
inline double shortened(double x) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::scientific, 14);
    double y = x;
    std::from_chars(text, end.ptr, y);
    return y;
}

// The threshold between neighboring values a < b: in [a, b), and short where it can be. (S 23)
inline double threshold_between(double a, double b) {
    const double middle = std::midpoint(a, b);
    const double brief = shortened(middle);
    // Adding zero makes -0.0 the zero that prints without a sign.
    if (a <= brief && brief < b) return brief + 0.0;
    return (a <= middle && middle < b ? middle : a) + 0.0;
}

// The best cut: `key` is the largest, `chosen` that of `cut`, the first of its equals.
struct CutChoice {
    double key = none;
    double chosen = none;
    std::int64_t cut = -1;
};

inline std::int64_t size_of(const Attribute& x, const Whole& w) {
    return x.sizes ? std::accumulate(x.sizes, x.sizes + x.m, std::int64_t{0}) : w.n;
}

// All cuts of an attribute in ascending order, as in (ZM Alg. 19.2); `left` is N_v of (ZM 19.12).
template <class M>
CutChoice best_cut(const M& measure, const Whole& w, const Attribute& x, const Limits& limits,
                   double peak = none) {
    const double near = measure.near(w);
    const std::int64_t size = size_of(x, w), K = w.n_classes;
    std::vector<std::int64_t> left(static_cast<std::size_t>(K), 0);
    // The first cut within tau of the largest key has a larger key than all cuts before it.
    std::vector<CutChoice> records;
    double best = none;
    std::int64_t n_l = 0, size_l = 0;
    for (std::int64_t v = 0; v + 1 < x.m; ++v) {
        for (std::int64_t k = 0; k < K; ++k) {
            left[static_cast<std::size_t>(k)] += x.counts[v * K + k];
        }
        const std::int64_t n_v = sum_of(x.counts + v * K, K);
        n_l += n_v;
        size_l += x.sizes ? x.sizes[v] : n_v;
        if (n_l < limits.min_units || size_l < limits.min_size) continue;
        if (w.n - n_l < limits.min_units || size - size_l < limits.min_size) break;
        double key = measure.key(w, left.data(), n_l);
        if (key <= near) key = exact_key(measure, w, left.data(), n_l);
        if (key <= best) continue;
        best = key;
        records.push_back({key, key, v});
    }
    if (records.empty()) return {};
    double least = best - M::tau(best, K);
    if (peak > best && best >= peak - M::tau(peak, K)) least = peak - M::tau(peak, K);
    for (const CutChoice& record : records) {
        if (record.key >= least) return {best, record.chosen, record.cut};
    }
    return {};
}

// The key of the test with one branch a value (MSML gain), where at least two branches meet the
// limits.
template <class M>
double multiway_key(const M& measure, const Whole& w, const Values& x, const Limits& limits) {
    if constexpr (M::two_sided) {
        return none;
    } else {
        const std::int64_t K = w.n_classes;
        std::int64_t fit = 0;
        bool alike = true;
        double key = 0.0;
        for (std::int64_t v = 0; v < x.m; ++v) {
            const std::int64_t* c = x.counts + v * K;
            const std::int64_t n = sum_of(c, K);
            key += measure.part(c, n, K);
            fit += n >= limits.min_units && (x.sizes ? x.sizes[v] : n) >= limits.min_size;
            alike = alike && side_alike(w, c, n);
        }
        if (fit < 2 || alike) return none;
        return std::max(key, measure.least(w));
    }
}

// What an attribute brings to the choice. `split_information` is for gain_ratio only; `bound`, with
// `all` subsets below it, for subset attributes only.
struct Candidate {
    Kind kind = Kind::leaf;
    double key = none;
    double split_information = 0.0;
    bool exact = true;
    double candidates = 0.0;  // subsets searched
    double all = 0.0;         // subsets there are
    double bound = -none;
};

// C4.5's rule: the gain ratios of the attributes whose gain is at least the average, `none` of all
// others. (S 21)
template <class M>
std::vector<double> competing_ratios(const M& measure, const Whole& w,
                                     const std::vector<Candidate>& found) {
    const double base = measure.base(w);
    __int128 sum = 0;
    std::int64_t m = 0;
    for (const Candidate& c : found) {
        if (c.key == none) continue;
        sum += static_cast<std::int64_t>(c.key - base);
        ++m;
    }
    std::vector<double> ratios;
    for (const Candidate& c : found) {
        const double gain = c.key - base;
        const auto raised =
            c.key == none ? __int128{0} : static_cast<__int128>(gain + M::tau(c.key, w.n_classes));
        const bool competes = c.key > none && raised * m >= sum;
        ratios.push_back(competes ? gain / c.split_information : none);
    }
    return ratios;
}

// Ratios from this one on count as equal to the best.
inline double least_ratio(double best) { return best * (1.0 - 1e-12); }

// The first of the attributes with the largest ratio; -1 where none has one.
template <class M>
std::int64_t choose_by_ratio(const M& measure, const Whole& w,
                             const std::vector<Candidate>& found) {
    const std::vector<double> ratios = competing_ratios(measure, w, found);
    const double best = ratios.empty() ? none : *std::max_element(ratios.begin(), ratios.end());
    for (std::size_t j = 0; j < ratios.size() && best > none; ++j) {
        if (ratios[j] >= least_ratio(best)) return static_cast<std::int64_t>(j);
    }
    return -1;
}

// The attribute of the node's test, -1 where none has an allowed one. `best_key` is the largest
// key, for gain_ratio that of the attribute chosen.
template <class M>
std::int64_t choose_attribute(const M& measure, const Whole& w, const Rules& rules,
                              const std::vector<Candidate>& found, double* best_key) {
    *best_key = none;
    if (by_ratio(rules.criterion)) {
        const std::int64_t j = choose_by_ratio(measure, w, found);
        if (j >= 0) *best_key = found[static_cast<std::size_t>(j)].key;
        return j;
    }
    for (const Candidate& c : found) *best_key = std::max(*best_key, c.key);
    if (*best_key == none) return -1;
    const double least = *best_key - M::tau(*best_key, w.n_classes);
    for (std::size_t j = 0; j < found.size(); ++j) {
        if (found[j].key >= least) return static_cast<std::int64_t>(j);
    }
    return -1;
}

// Whether the node's test is certainly the best, and how many subsets it stood against. An
// attribute whose bound stays below the choice counts as searched in full, whether it was searched
// or not: so the answer does not depend on the floor.
template <class M>
void certify(const Whole& w, const Rules& rules, const std::vector<Candidate>& found,
             double best_key, Test& test) {
    const double least = best_key - M::tau(best_key, w.n_classes);
    for (const Candidate& c : found) {
        if (c.kind != Kind::subset) continue;
        const bool out = !by_ratio(rules.criterion) && c.bound < least;
        test.exact = test.exact && (c.exact || out);
        test.candidates += c.exact || out ? c.all : c.candidates;
    }
}

// n log n - sum n_p log n_p over the branches of a test, given their units. (S 20)
inline double split_information(const Logs& logs, std::int64_t n, const std::int64_t* parts,
                                std::int64_t n_parts) {
    std::int64_t units = logs(n);
    for (std::int64_t p = 0; p < n_parts; ++p) units -= logs(parts[p]);
    return static_cast<double>(units);
}

// best_test.cpp: the test of a node from the tables of its attributes; attribute -1 where no
// test is allowed. All tables describe the same rows; `total` are the units of the whole fit.
Test best_test(const std::vector<Attribute>& attributes, const Whole& w, const Rules& rules,
               std::int64_t total);

}  // namespace sortal::trees
