// Growth: what limbs (nodes of many rows) and twigs (subtrees in the cache) have in common: the
// table as codes, the search among a node's attributes, nodes as they are made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "bins.hpp"
#include "choice.hpp"
#include "cuts.hpp"
#include "holes.hpp"
#include "tree.hpp"

namespace sortal {

using Label = std::uint16_t;

// The columns by codes: bins of numbers, and categories of up to 65,536 values. Categories of more
// values are read where they are.
struct Coded {
    std::vector<Bins> bins;                        // of cut columns, by column; empty elsewhere
    std::vector<std::vector<std::uint8_t>> bytes;  // by column; empty where codes need more
    std::vector<std::vector<std::uint16_t>> words;
    std::vector<std::int64_t> n_codes;  // by column; the last one is that of holes, where there are
};

// What a fit fixes for all its nodes.
template <class M>
struct Field {
    const std::vector<TreeColumn>& columns;
    const TreeRows& rows;
    const Growth& growth;
    const M& measure;
    const Logs& logs;
    const Coded& coded;

    std::int64_t n_columns() const { return static_cast<std::int64_t>(columns.size()); }
    std::int64_t n_classes() const { return rows.n_classes; }
    const TreeColumn& column(std::int64_t j) const { return columns[static_cast<std::size_t>(j)]; }
    bool by_ratio() const { return growth.rules.criterion == Criterion::gain_ratio; }
    // where sizes are counted apart from units
    bool counts_rows() const { return rows.units != nullptr && !rows.copies; }
    std::int64_t unit(std::int64_t row) const { return rows.units ? rows.units[row] : 1; }
    std::int64_t size(std::int64_t row) const {
        return !counts_rows() ? unit(row) : rows.sizes ? rows.sizes[row] : 1;
    }
    // the code of holes in a column; -1 where it has none
    std::int64_t hole_code(std::int64_t j) const {
        return column(j).holes ? coded.n_codes[static_cast<std::size_t>(j)] - 1 : -1;
    }
    bool by_side() const { return growth.holes == HolePolicy::direction; }
};

// A node as it is made: its children stand one after the other.
struct Sprout {
    Kind kind = Kind::leaf;
    std::int32_t attribute = -1;
    std::int32_t heavier = -1;
    std::int32_t missing = no_holes;
    std::int32_t depth = 0;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    double score = 0.0, gain = 0.0, candidates = 0.0;
    bool exact = true;
    bool taken = false;      // whether its test is asked: always, but for a bound on the leaves
    std::int32_t graft = -1; // the list in which this node goes on, as its first
    std::int64_t size = 0;
    std::int64_t first_child = -1, n_children = 0;
    std::int64_t value_start = 0, n_values = 0;
};

struct Sprouts {
    std::int64_t n_classes = 0;
    std::vector<Sprout> nodes;
    std::vector<std::int64_t> units;
    std::vector<std::int32_t> values, branches;

    Sprout& at(std::int64_t id) { return nodes[static_cast<std::size_t>(id)]; }
    const Sprout& at(std::int64_t id) const { return nodes[static_cast<std::size_t>(id)]; }
    const std::int64_t* counts(std::int64_t id) const { return units.data() + id * n_classes; }
    std::int64_t* counts(std::int64_t id) { return units.data() + id * n_classes; }
    Whole whole(std::int64_t id) const {
        return {counts(id), sum_of(counts(id), n_classes), n_classes};
    }
    // n more nodes, without rows so far; the first one's number.
    std::int64_t add(std::int64_t n, std::int32_t depth) {
        const auto first = static_cast<std::int64_t>(nodes.size());
        nodes.resize(nodes.size() + static_cast<std::size_t>(n));
        for (std::int64_t i = first; i < first + n; ++i) at(i).depth = depth;
        units.resize(units.size() + static_cast<std::size_t>(n * n_classes), 0);
        return first;
    }
};

// What is found of an attribute at a node; keys are in the scale of the node. A cut's place is left to
// limbs and twigs.
struct Found {
    double key = none;         // the largest of its tests
    double chosen = none;      // that of the test that is asked, the first of equals
    double information = 0.0;  // split information in units; by ratio only
    double bound = 0.0;        // of subsets
    Subset subset{};                  // keys in the scale of the rows searched
    std::vector<std::int32_t> codes;  // values present, ascending
    std::vector<std::int64_t> counts, sizes;
    Cuts cuts;                         // limbs
    std::vector<double> edge_keys, edge_keys_yes;  // with the holes on the no side, on the yes side
    std::int64_t place = -1, n_yes = 0;  // twigs: the first cut of largest key
    bool close = false;                  // ... and whether a lower one comes within tau of it
    Holes holes;
    bool holes_yes = false;   // on which side of a cut they are
    bool alone = false;       // the test parts known rows from holes
    std::int32_t joined = 0;  // the branch of one a value that holes join

    void clear() {
        key = chosen = none;
        information = bound = 0.0;
        subset = Subset{};
        codes.clear();
        counts.clear();
        sizes.clear();
        cuts.clear();
        place = -1;
        close = false;
        holes.clear();
        holes_yes = alone = false;
        joined = 0;
    }
    Values values() const {
        return {static_cast<std::int64_t>(codes.size()), codes.data(), counts.data(),
                sizes.empty() ? nullptr : sizes.data()};
    }
};

// Split information of a test with two sides, n_yes units of the rows searched on one; holes that are
// on neither are one more part.
template <class M>
double sides_information(const Field<M>& field, const Whole& w, const Found& found,
                         std::int64_t n_yes) {
    const Whole searched = found.holes.searched(w);
    const std::int64_t parts[3] = {n_yes, searched.n - n_yes, w.n - searched.n};
    return split_information(field.logs, w.n, parts, 3);
}

template <class M>
double values_information(const Field<M>& field, const Whole& w, const Found& found) {
    std::vector<std::int64_t> parts;
    const Values values = found.values();
    for (std::int64_t v = 0; v < values.m; ++v) {
        parts.push_back(sum_of(values.counts + v * field.n_classes(), field.n_classes()));
    }
    parts.push_back(w.n - found.holes.searched(w).n);
    return split_information(field.logs, w.n, parts.data(), values.m + 1);
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

// Takes the holes out of the list of a category's values, where they are no value like the others.
template <class M>
void take_holes(const Field<M>& field, const Whole& w, std::int64_t j, Found& found) {
    const HolePolicy policy = field.growth.holes;
    const Kind kind = field.column(j).kind;
    const bool a_value = kind == Kind::subset ? policy == HolePolicy::direction
                                              : policy == HolePolicy::branch;
    const std::int64_t hole = field.hole_code(j);
    if (a_value || hole < 0 || found.codes.empty() || found.codes.back() != hole) return;
    const auto K = static_cast<std::size_t>(field.n_classes());
    Holes& holes = found.holes;
    holes.counts.assign(found.counts.end() - static_cast<std::ptrdiff_t>(K), found.counts.end());
    holes.n = sum_of(holes.counts.data(), field.n_classes());
    holes.size = found.sizes.empty() ? holes.n : found.sizes.back();
    found.counts.resize(found.counts.size() - K);
    found.codes.pop_back();
    if (!found.sizes.empty()) found.sizes.pop_back();
    if (!field.by_side()) holes.set_apart(field.measure, w, policy == HolePolicy::branch);
}

// Holes join the branch with which the test is best, of those that leave two large ones; the first of
// equals.
template <class M>
void join_holes(const Field<M>& field, const Whole& w, Found& found) {
    if constexpr (std::is_same_v<M, Cart>) {
        return;  // knows two sides only
    } else {
        const std::int64_t K = field.n_classes();
        const Limits& limits = field.growth.rules.limits;
        const auto size = [&](std::size_t v, std::int64_t n) {
            return found.sizes.empty() ? n : found.sizes[v];
        };
        const auto is_large = [&](std::int64_t n, std::int64_t n_rows) {
            return n >= limits.units && n_rows >= limits.size;
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
            const std::int64_t n = sum_of(counts(v), K), more = found.holes.n;
            const bool grows = !is_large(n, size(v, n)) &&
                               is_large(n + more, size(v, n) + found.holes.size);
            if (large + grows < 2) continue;
            for (std::size_t k = 0; k < joined.size(); ++k) {
                joined[k] = counts(v)[k] + found.holes.counts[k];
            }
            const double rise = field.measure.part(joined.data(), n + more, K) -
                                field.measure.part(counts(v), n, K);
            if (best != none && rise <= best + M::tau(field.measure.base(w), K)) continue;
            best = rise;
            found.joined = static_cast<std::int32_t>(v);
        }
        const auto at = static_cast<std::size_t>(found.joined);
        for (std::size_t k = 0; k < joined.size(); ++k) {
            found.counts[at * joined.size() + k] += found.holes.counts[k];
        }
        if (!found.sizes.empty()) found.sizes[at] += found.holes.size;
    }
}

// The test of one branch a value.
template <class M>
void look_at_branches(const Field<M>& field, const Whole& w, Found& found) {
    if (found.codes.size() < 2) return;
    if (field.by_side() && found.holes.n > 0) join_holes(field, w, found);
    const Whole searched = found.holes.searched(w);
    found.key = found.holes.in_node(
        multiway_key(field.measure, searched, found.values(), field.growth.rules.limits));
    found.chosen = found.key;
    if (field.by_ratio()) found.information = values_information(field, w, found);
}

// Where holes have branches of their own and the known rows no test: known rows against holes.
template <class M>
void part_holes(const Field<M>& field, const Whole& w, std::int64_t size, Found& found) {
    const Holes& holes = found.holes;
    if (field.growth.holes != HolePolicy::branch || found.key > none || holes.n == 0) return;
    const Limits& limits = field.growth.rules.limits;
    const std::int64_t known = w.n - holes.n;
    if (std::min(known, holes.n) < std::max<std::int64_t>(1, limits.units)) return;
    if (std::min(size - holes.size, holes.size) < limits.size) return;
    found.key = found.chosen = exact_key(field.measure, w, holes.known.data(), known);
    found.alone = true;
    const std::int64_t parts[2] = {known, holes.n};
    if (field.by_ratio()) found.information = split_information(field.logs, w.n, parts, 2);
}

// The first look at an attribute of categories, whose counts are in `found`.
template <class M>
void look_at_values(const Field<M>& field, const Whole& w, std::int64_t j, Found& found,
                    Scratch& s) {
    take_holes(field, w, j, found);
    if (field.column(j).kind == Kind::multiway) {
        look_at_branches(field, w, found);
        return;
    }
    const Values values = found.values();
    if (values.m < 2) return;
    const Whole searched = found.holes.searched(w);
    found.subset = first_subset(field.measure, searched, values, field.growth.rules.limits, s);
    found.key = found.holes.in_node(found.subset.key);
    found.bound = found.holes.in_node(subset_bound(field.measure, searched, values));
}

// The best subset of an attribute, unless its bound stays below `floor` or the first look found it.
template <class M>
void search_subset(const Field<M>& field, const Whole& w, std::int64_t size, double floor,
                   Found& found, Scratch& s) {
    const Values values = found.values();
    if (values.m < 2) {
        part_holes(field, w, size, found);
        return;
    }
    if (!field.by_ratio() && found.bound < floor - M::tau(floor, w.n_classes)) {
        found.key = none;
        found.subset = Subset{};
        return;
    }
    const Whole searched = found.holes.searched(w);
    if (!found.subset.exact) {
        found.subset =
            best_subset(field.measure, searched, values, field.growth.rules.limits, none, s);
    }
    found.key = found.holes.in_node(found.subset.key);
    part_holes(field, w, size, found);
    if (field.by_ratio() && !found.alone && found.key > none) {
        found.information =
            sides_information(field, w, found, units_of(values, found.subset.yes, w.n_classes));
    }
}

// The attributes that were looked at, in column order, as the choice sees them.
template <class M>
void list_candidates(const Field<M>& field, const std::vector<Found>& found,
                     const std::int32_t* active, std::int64_t n_active,
                     std::vector<Candidate>& candidates) {
    candidates.clear();
    for (std::int64_t i = 0; i < n_active; ++i) {
        const Found& f = found[static_cast<std::size_t>(active[i])];
        Candidate c{.kind = field.column(active[i]).kind,
                    .key = f.key,
                    .split_information = f.information};
        if (c.kind == Kind::subset) {
            const auto m = static_cast<std::int64_t>(f.codes.size());
            c.exact = f.subset.exact;
            c.candidates = f.subset.candidates;
            c.all = subsets_allowed(m, field.growth.rules.limits.subset);
            if (!field.by_ratio() && m > 1) c.bound = f.bound;
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
Verdict decide(const Field<M>& field, const Whole& w, const std::int32_t* active,
               const std::vector<Candidate>& candidates) {
    Verdict verdict;
    const std::int64_t at =
        choose_attribute(field.measure, w, field.growth.rules, candidates, &verdict.peak);
    if (at < 0) return verdict;
    verdict.attribute = active[at];
    verdict.target = verdict.peak - M::tau(verdict.peak, w.n_classes);
    return verdict;
}

// Whether the choice may hang on keys that are rounding alone, which a first look leaves out.
template <class M>
bool is_unsure(const Field<M>& field, const Whole& w, const Verdict& verdict) {
    if (field.by_ratio()) return false;
    if (verdict.attribute < 0) return true;
    // keys of known rows are rounded once more in the scale of the node
    return verdict.target <= field.measure.near(w) + 2.0 * M::tau(static_cast<double>(w.n), w.n_classes);
}

// The threshold of a cut; that between the largest value and holes says yes to every value.
inline double cut_between(double below, double above) {
    return std::isinf(above) || std::isnan(above) ? std::numeric_limits<double>::infinity()
                                                  : threshold_between(below, above);
}

// Where the values of a category go.
inline void note_values(Kind kind, std::int64_t hole, const Found& found, Sprouts& sprouts,
                        Sprout& node) {
    node.value_start = static_cast<std::int64_t>(sprouts.values.size());
    const auto& yes = found.subset.yes;
    std::int32_t branch = 0;
    for (const std::int32_t code : found.codes) {
        const bool is_yes = found.alone || std::binary_search(yes.begin(), yes.end(), code);
        const std::int32_t to = kind == Kind::multiway ? branch++ : (is_yes ? 0 : 1);
        if (code == hole) {
            node.missing = to;
            continue;
        }
        sprouts.values.push_back(code);
        sprouts.branches.push_back(to);
    }
    node.n_values = static_cast<std::int64_t>(sprouts.values.size()) - node.value_start;
    if (kind == Kind::multiway) node.n_children = branch;
}

// The branch with most of the known units, the first of equals.
template <class M>
std::int32_t most_known(const Field<M>& field, Kind kind, const Whole& w, const Found& found) {
    const std::int64_t K = field.n_classes(), known = w.n - found.holes.n;
    if (kind != Kind::multiway) {
        const std::int64_t n_yes = kind == Kind::cut
                                       ? found.n_yes
                                       : units_of(found.values(), found.subset.yes, K);
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

// Where the holes go that are no value of the list.
template <class M>
void note_holes(const Field<M>& field, Kind kind, const Whole& w, const Found& found, Sprout& node) {
    const HolePolicy policy = field.growth.holes;
    if (policy == HolePolicy::fractional) node.missing = spread;
    if (found.holes.n == 0 || policy == HolePolicy::fractional) return;
    if (policy == HolePolicy::branch) {
        node.missing = found.alone ? 1 : static_cast<std::int32_t>(node.n_children++);
    } else if (policy == HolePolicy::majority) {
        node.missing = most_known(field, kind, w, found);
    } else {
        node.missing = kind == Kind::multiway ? found.joined : (found.holes_yes ? 0 : 1);
    }
}

// Notes the chosen test in the node; children and counts come with the split. False, and nothing
// noted, where its score is too small.
template <class M>
bool note_test(const Field<M>& field, const Whole& w, const Verdict& verdict, Found& found,
               const std::vector<Candidate>& candidates, Sprouts& sprouts, std::int64_t id,
               Scratch& s) {
    const Rules& rules = field.growth.rules;
    const Kind kind = field.column(verdict.attribute).kind;
    const Holes& holes = found.holes;
    if (kind == Kind::subset && !found.alone) {
        if (holes.in_node(found.subset.chosen) < verdict.target) {
            // the choice among equals depends on the best of all attributes
            found.subset = best_subset(field.measure, holes.searched(w), found.values(),
                                       rules.limits, holes.in_known(verdict.peak), s);
        }
        found.chosen = holes.in_node(found.subset.chosen);
    }
    const double gain = field.measure.score(w, found.chosen);
    const double score =
        field.by_ratio() ? (found.chosen - field.measure.base(w)) / found.information : gain;
    if (score < field.growth.stops.min_gain) return false;
    Test test;
    certify<M>(w, rules, candidates, verdict.peak, test);
    Sprout& node = sprouts.at(id);
    node.kind = kind;
    node.attribute = static_cast<std::int32_t>(verdict.attribute);
    node.score = score;
    node.gain = gain;
    node.exact = test.exact;
    node.candidates = test.candidates;
    node.n_children = 2;
    if (kind != Kind::cut) {
        note_values(kind, field.hole_code(verdict.attribute), found, sprouts, node);
    }
    note_holes(field, kind, w, found, node);
    return true;
}

// Which branch is heavier, once the children's counts are known; the first of equals. It is for values
// that the node does not know, hence one that known values take.
inline void weigh_branches(Sprouts& sprouts, std::int64_t id) {
    Sprout& node = sprouts.at(id);
    if (node.kind == Kind::multiway) return;
    const std::int64_t yes = sprouts.whole(node.first_child).n;
    const std::int64_t no = sprouts.whole(node.first_child + 1).n;
    node.heavier = yes >= no ? 0 : 1;
    if (node.kind == Kind::cut) {
        if (std::isinf(node.threshold)) node.heavier = 0;
        return;
    }
    const auto from = sprouts.branches.begin() + node.value_start, to = from + node.n_values;
    if (std::count(from, to, node.heavier) == 0) node.heavier = 1 - node.heavier;
}

}  // namespace sortal
