// The search among a node's attributes, as large nodes, cached subtrees and rows in parts share it:
// what is found of each, the choice among them, the test as it is noted in the node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/best_test.hpp"
#include "trees/binned_cuts.hpp"
#include "trees/fit_context.hpp"
#include "trees/missing.hpp"

namespace sortal::trees {

// What is found of an attribute at a node; keys are in the scale of the node.
struct Found {
    double key = none;                // the largest of its tests
    double chosen = none;             // that of the test that is asked, the first of equals
    double information = 0.0;         // split information in units; by ratio only
    double bound = 0.0;               // of subsets
    Subset subset{};                  // keys in the scale of the rows searched
    std::vector<std::int32_t> codes;  // values present, ascending
    std::vector<std::int64_t> counts, sizes;
    BestCuts cuts;
    CutRecord cut{};                    // the one that is asked
    std::vector<double> edge_keys;      // large nodes: with the missing values on the no side
    std::vector<double> edge_keys_yes;  // ... on the yes side
    MissingRows missing;
    bool alone = false;       // the test parts known rows from missing values
    std::int32_t joined = 0;  // the branch of one a value that missing values join

    void clear() {
        key = chosen = none;
        information = bound = 0.0;
        subset = Subset{};
        codes.clear();
        counts.clear();
        sizes.clear();
        cuts.clear();
        cut = {};
        missing.clear();
        alone = false;
        joined = 0;
    }
    Values values() const {
        return {static_cast<std::int64_t>(codes.size()), codes.data(), counts.data(),
                sizes.empty() ? nullptr : sizes.data()};
    }
};

// Takes the lowest of the cuts that count as equal to the best.
inline void settle_cut(Found& found, double target) {
    if (found.alone) return;
    found.cut = *found.cuts.lowest(target);
    found.chosen = found.cut.key;
}

// Split information of a test with two sides, n_yes units of the rows searched on one; missing
// values that are on neither are one more part.
template <class M>
double sides_information(const FitContext<M>& context, const Whole& w, const Found& found,
                         std::int64_t n_yes) {
    const Whole searched = found.missing.searched(w);
    const std::int64_t parts[3] = {n_yes, searched.n - n_yes, w.n - searched.n};
    return split_information(context.logs, w.n, parts, 3);
}

inline double values_information(const Logs& logs, const Whole& w, const Found& found) {
    std::vector<std::int64_t> parts;
    const Values values = found.values();
    for (std::int64_t v = 0; v < values.m; ++v) {
        parts.push_back(sum_of(values.counts + v * w.n_classes, w.n_classes));
    }
    parts.push_back(w.n - found.missing.searched(w).n);
    return split_information(logs, w.n, parts.data(), values.m + 1);
}

// The units of the values that answer yes.
inline std::int64_t units_of(const Values& values, const std::vector<std::int32_t>& yes,
                             std::int64_t n_classes) {
    std::int64_t n = 0;
    for (std::int64_t v = 0; v < values.m; ++v) {
        if (std::binary_search(yes.begin(), yes.end(), values.codes[v])) {
            n += sum_of(values.counts + v * n_classes, n_classes);
        }
    }
    return n;
}

// Takes the missing values out of the list of a category's values, where they are no value like the
// others.
template <class M>
void take_missing(const FitContext<M>& context, const Whole& w, std::int64_t j, Found& found) {
    const MissingPolicy policy = context.options.policy;
    const Kind kind = context.column(j).kind;
    const bool a_value =
        kind == Kind::subset ? policy == MissingPolicy::direction : policy == MissingPolicy::branch;
    const std::int64_t code = context.missing_code(j);
    if (a_value || code < 0 || found.codes.empty() || found.codes.back() != code) return;
    const auto K = static_cast<std::size_t>(context.n_classes());
    MissingRows& missing = found.missing;
    missing.counts.assign(found.counts.end() - static_cast<std::ptrdiff_t>(K), found.counts.end());
    missing.n = sum_of(missing.counts.data(), context.n_classes());
    missing.size = found.sizes.empty() ? missing.n : found.sizes.back();
    found.counts.resize(found.counts.size() - K);
    found.codes.pop_back();
    if (!found.sizes.empty()) found.sizes.pop_back();
    context.set_apart(w, missing);
}

// Missing values join the branch with which the test is best, of those that leave two large ones;
// the first of equals.
template <class M>
void join_missing(const M& measure, const Limits& limits, const Whole& w, Found& found) {
    if constexpr (M::two_sided) {
        return;  // no branch a value
    } else {
        const std::int64_t K = w.n_classes;
        const auto size = [&](std::size_t v, std::int64_t n) {
            return found.sizes.empty() ? n : found.sizes[v];
        };
        const auto is_large = [&](std::int64_t n, std::int64_t n_rows) {
            return n >= limits.min_units && n_rows >= limits.min_size;
        };
        const auto counts = [&](std::size_t v) {
            return found.counts.data() + static_cast<std::int64_t>(v) * K;
        };
        std::int64_t large = 0;
        for (std::size_t v = 0; v < found.codes.size(); ++v) {
            const std::int64_t n = sum_of(counts(v), K);
            large += is_large(n, size(v, n));
        }
        std::vector<std::int64_t> joined(static_cast<std::size_t>(K));
        double best = none;
        for (std::size_t v = 0; v < found.codes.size(); ++v) {
            const std::int64_t n = sum_of(counts(v), K), more = found.missing.n;
            const bool grows =
                !is_large(n, size(v, n)) && is_large(n + more, size(v, n) + found.missing.size);
            if (large + grows < 2) continue;
            for (std::size_t k = 0; k < joined.size(); ++k) {
                joined[k] = counts(v)[k] + found.missing.counts[k];
            }
            const double rise =
                measure.part(joined.data(), n + more, K) - measure.part(counts(v), n, K);
            if (best != none && rise <= best + M::tau(measure.base(w), K)) continue;
            best = rise;
            found.joined = static_cast<std::int32_t>(v);
        }
        const auto at = static_cast<std::size_t>(found.joined);
        for (std::size_t k = 0; k < joined.size(); ++k) {
            found.counts[at * joined.size() + k] += found.missing.counts[k];
        }
        if (!found.sizes.empty()) found.sizes[at] += found.missing.size;
    }
}

// The test of one branch a value.
template <class M>
void look_at_branches(const FitContext<M>& context, const Whole& w, Found& found) {
    if (found.codes.size() < 2) return;
    if (context.by_side() && found.missing.n > 0) {
        join_missing(context.measure, context.options, w, found);
    }
    const Whole searched = found.missing.searched(w);
    found.key = found.missing.in_node(
        multiway_key(context.measure, searched, found.values(), context.options));
    found.chosen = found.key;
    if (context.by_ratio()) found.information = values_information(context.logs, w, found);
}

// Where missing values have branches of their own and the known rows no test: known rows against
// missing values.
template <class M>
void part_missing(const FitContext<M>& context, const Whole& w, std::int64_t size, Found& found) {
    const MissingRows& missing = found.missing;
    if (context.options.policy != MissingPolicy::branch || found.key > none || missing.n == 0) {
        return;
    }
    const Limits& limits = context.options;
    const std::int64_t known = w.n - missing.n;
    if (std::min(known, missing.n) < std::max<std::int64_t>(1, limits.min_units)) return;
    if (std::min(size - missing.size, missing.size) < limits.min_size) return;
    found.key = found.chosen = exact_key(context.measure, w, missing.known.data(), known);
    found.alone = true;
    const std::int64_t parts[2] = {known, missing.n};
    if (context.by_ratio()) found.information = split_information(context.logs, w.n, parts, 2);
}

// The first look at an attribute of categories, whose counts are in `found`.
template <class M>
void look_at_values(const FitContext<M>& context, const Whole& w, std::int64_t j, Found& found,
                    Scratch& s) {
    take_missing(context, w, j, found);
    if (context.column(j).kind == Kind::multiway) {
        look_at_branches(context, w, found);
        return;
    }
    const Values values = found.values();
    if (values.m < 2) return;
    const Whole searched = found.missing.searched(w);
    found.subset = first_subset(context.measure, searched, values, context.options, s);
    found.key = found.missing.in_node(found.subset.key);
    found.bound =
        found.missing.in_node(context.measure.subset_bound(searched, values.counts, values.m));
}

// The best subset of an attribute, unless its bound stays below `floor` or the first look found it.
template <class M>
void search_subset(const FitContext<M>& context, const Whole& w, std::int64_t size, double floor,
                   Found& found, Scratch& s) {
    const Values values = found.values();
    if (values.m < 2) {
        part_missing(context, w, size, found);
        return;
    }
    if (!context.by_ratio() && found.bound < floor - M::tau(floor, w.n_classes)) {
        found.key = none;
        found.subset = Subset{};
        return;
    }
    const Whole searched = found.missing.searched(w);
    if (!found.subset.exact) {
        found.subset = best_subset(context.measure, searched, values, context.options, none, s);
    }
    found.key = found.missing.in_node(found.subset.key);
    part_missing(context, w, size, found);
    if (context.by_ratio() && !found.alone && found.key > none) {
        found.information =
            sides_information(context, w, found, units_of(values, found.subset.yes, w.n_classes));
    }
}

// The attributes that were looked at, in column order, as the choice sees them.
template <class M>
void list_candidates(const FitContext<M>& context, const std::vector<Found>& found,
                     const std::int32_t* active, std::int64_t n_active,
                     std::vector<Candidate>& candidates) {
    candidates.clear();
    for (std::int64_t i = 0; i < n_active; ++i) {
        const Found& f = found[static_cast<std::size_t>(active[i])];
        Candidate c{.kind = context.column(active[i]).kind,
                    .key = f.key,
                    .split_information = f.information};
        if (c.kind == Kind::subset) {
            const auto m = static_cast<std::int64_t>(f.codes.size());
            c.exact = f.subset.exact;
            c.candidates = f.subset.candidates;
            c.all = subsets_allowed(m, context.options.max_subset);
            if (!context.by_ratio() && m > 1) c.bound = f.bound;
        }
        candidates.push_back(c);
    }
}

// Which attribute is asked; keys from `target` on count as equal to the best.
struct Verdict {
    std::int64_t attribute = -1;
    double peak = none, target = none;
};

template <class M>
Verdict decide(const FitContext<M>& context, const Whole& w, const std::int32_t* active,
               const std::vector<Candidate>& candidates) {
    Verdict verdict;
    const std::int64_t at =
        choose_attribute(context.measure, w, context.options, candidates, &verdict.peak);
    if (at < 0) return verdict;
    verdict.attribute = active[at];
    verdict.target = verdict.peak - M::tau(verdict.peak, w.n_classes);
    return verdict;
}

// Whether the choice may hang on keys that are rounding alone, which a first look leaves out.
template <class M>
bool is_unsure(const FitContext<M>& context, const Whole& w, const Verdict& verdict) {
    if (context.by_ratio()) return false;
    if (verdict.attribute < 0) return true;
    // keys of known rows are rounded once more in the scale of the node
    return verdict.target <=
           context.measure.near(w) + 2.0 * M::tau(static_cast<double>(w.n), w.n_classes);
}

// The threshold of a cut; that between the largest value and missing values says yes to every
// value.
inline double cut_between(double below, double above) {
    return std::isinf(above) || std::isnan(above) ? std::numeric_limits<double>::infinity()
                                                  : threshold_between(below, above);
}

// Where the values of a category go.
inline void note_values(Kind kind, std::int64_t missing, const Found& found, GrowingNodes& growing,
                        GrowingNode& node) {
    node.value_start = static_cast<std::int64_t>(growing.values.size());
    const auto& yes = found.subset.yes;
    std::int32_t branch = 0;
    for (const std::int32_t code : found.codes) {
        const bool is_yes = found.alone || std::binary_search(yes.begin(), yes.end(), code);
        const std::int32_t to = kind == Kind::multiway ? branch++ : (is_yes ? 0 : 1);
        if (code == missing) {
            node.missing = to;
            continue;
        }
        growing.values.push_back(code);
        growing.branches.push_back(to);
    }
    node.n_values = static_cast<std::int64_t>(growing.values.size()) - node.value_start;
    if (kind == Kind::multiway) node.n_children = branch;
}

// The branch with most of the known units, the first of equals.
template <class M>
std::int32_t most_known(const FitContext<M>& context, Kind kind, const Whole& w,
                        const Found& found) {
    const std::int64_t K = context.n_classes(), known = w.n - found.missing.n;
    if (kind != Kind::multiway) {
        const std::int64_t n_yes =
            kind == Kind::cut ? found.cut.n_yes : units_of(found.values(), found.subset.yes, K);
        return n_yes >= known - n_yes ? 0 : 1;
    }
    std::int32_t heaviest = 0;
    std::int64_t most = -1;
    for (std::size_t v = 0; v < found.codes.size(); ++v) {
        const std::int64_t n = sum_of(found.counts.data() + static_cast<std::int64_t>(v) * K, K);
        if (n <= most) continue;
        most = n;
        heaviest = static_cast<std::int32_t>(v);
    }
    return heaviest;
}

// Where the missing values go that are no value of the list.
template <class M>
void note_missing(const FitContext<M>& context, Kind kind, const Whole& w, const Found& found,
                  GrowingNode& node) {
    const MissingPolicy policy = context.options.policy;
    if (policy == MissingPolicy::fractional) node.missing = spread;
    if (found.missing.n == 0 || policy == MissingPolicy::fractional) return;
    if (policy == MissingPolicy::branch) {
        node.missing = found.alone ? 1 : static_cast<std::int32_t>(node.n_children++);
    } else if (policy == MissingPolicy::majority) {
        node.missing = most_known(context, kind, w, found);
    } else {
        node.missing = kind == Kind::multiway ? found.joined : (found.cut.missing_yes ? 0 : 1);
    }
}

// Notes the chosen test in the node; children and counts come with the split. False, and nothing
// noted, where its score is too small.
template <class M>
bool note_test(const FitContext<M>& context, const Whole& w, const Verdict& verdict, Found& found,
               const std::vector<Candidate>& candidates, GrowingNodes& growing, std::int64_t id,
               Scratch& s) {
    const Rules& rules = context.options;
    const Kind kind = context.column(verdict.attribute).kind;
    const MissingRows& missing = found.missing;
    if (kind == Kind::subset && !found.alone) {
        if (missing.in_node(found.subset.chosen) < verdict.target) {
            // the choice among equals depends on the best of all attributes
            found.subset = best_subset(context.measure, missing.searched(w), found.values(), rules,
                                       missing.in_known(verdict.peak), s);
        }
        found.chosen = missing.in_node(found.subset.chosen);
    }
    const double gain = context.measure.score(w, found.chosen);
    const double score =
        context.by_ratio() ? (found.chosen - context.measure.base(w)) / found.information : gain;
    if (score < context.options.min_gain) return false;
    Test test;
    certify<M>(w, rules, candidates, verdict.peak, test);
    GrowingNode& node = growing.at(id);
    node.kind = kind;
    node.attribute = static_cast<std::int32_t>(verdict.attribute);
    node.score = score;
    node.gain = gain;
    node.exact = test.exact;
    node.candidates = test.candidates;
    node.n_children = 2;
    if (kind != Kind::cut) {
        note_values(kind, context.missing_code(verdict.attribute), found, growing, node);
    }
    note_missing(context, kind, w, found, node);
    return true;
}

// Which branch is heavier, once the children's counts are known; the first of equals. It is for
// values that the node does not know, hence one that known values take.
inline void weigh_branches(GrowingNodes& growing, std::int64_t id) {
    GrowingNode& node = growing.at(id);
    if (node.kind == Kind::multiway) return;
    const std::int64_t yes = growing.whole(node.first_child).n;
    const std::int64_t no = growing.whole(node.first_child + 1).n;
    node.heavier = yes >= no ? 0 : 1;
    if (node.kind == Kind::cut) {
        if (std::isinf(node.threshold)) node.heavier = 0;
        return;
    }
    const auto from = growing.branches.begin() + node.value_start, to = from + node.n_values;
    if (std::count(from, to, node.heavier) == 0) node.heavier = 1 - node.heavier;
}

}  // namespace sortal::trees
