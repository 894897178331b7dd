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
#include "tree.hpp"

namespace sortal {

using Label = std::uint16_t;

// The columns by codes: bins of numbers, and categories of up to 65,536 values. Categories of more
// values are read where they are.
struct Coded {
    std::vector<Bins> bins;                        // of cut columns, by column; empty elsewhere
    std::vector<std::vector<std::uint8_t>> bytes;  // by column; empty where codes need more
    std::vector<std::vector<std::uint16_t>> words;
    std::vector<std::int64_t> n_codes;  // by column
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
};

// A node as it is made: its children stand one after the other.
struct Sprout {
    Kind kind = Kind::leaf;
    std::int32_t attribute = -1;
    std::int32_t heavier = -1;
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

// What is found of an attribute at a node. A cut's place is left to limbs and twigs.
struct Found {
    double key = none;         // the largest of its tests
    double chosen = none;      // that of the test that is asked, the first of equals
    double information = 0.0;  // split information in units; by ratio only
    double bound = 0.0;        // of subsets
    Subset subset{};
    std::vector<std::int32_t> codes;  // values present, ascending
    std::vector<std::int64_t> counts, sizes;
    Cuts cuts;                         // limbs
    std::vector<double> edge_keys;
    std::int64_t place = -1, n_yes = 0;  // twigs: the first cut of largest key
    bool close = false;                  // ... and whether a lower one comes within tau of it

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
    }
    Values values() const {
        return {static_cast<std::int64_t>(codes.size()), codes.data(), counts.data(),
                sizes.empty() ? nullptr : sizes.data()};
    }
};

template <class M>
double cut_information(const Field<M>& field, std::int64_t n, std::int64_t n_yes) {
    const std::int64_t parts[2] = {n_yes, n - n_yes};
    return split_information(field.logs, n, parts, 2);
}

template <class M>
double values_information(const Field<M>& field, std::int64_t n, const Values& values) {
    std::vector<std::int64_t> parts;
    for (std::int64_t v = 0; v < values.m; ++v) {
        parts.push_back(sum_of(values.counts + v * field.n_classes(), field.n_classes()));
    }
    return split_information(field.logs, n, parts.data(), values.m);
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

// The first look at an attribute of categories, whose counts are in `found`.
template <class M>
void look_at_values(const Field<M>& field, const Whole& w, Kind kind, Found& found, Scratch& s) {
    const Values values = found.values();
    const Limits& limits = field.growth.rules.limits;
    if (values.m < 2) return;
    if (kind == Kind::multiway) {
        found.key = found.chosen = multiway_key(field.measure, w, values, limits);
        if (field.by_ratio()) found.information = values_information(field, w.n, values);
        return;
    }
    found.subset = first_subset(field.measure, w, values, limits, s);
    found.key = found.subset.key;
    found.bound = subset_bound(field.measure, w, values);
}

// The best subset of an attribute, unless its bound stays below `floor` or the first look found it.
template <class M>
void search_subset(const Field<M>& field, const Whole& w, double floor, Found& found, Scratch& s) {
    const Values values = found.values();
    if (values.m < 2) return;
    if (!field.by_ratio() && found.bound < floor - M::tau(floor, w.n_classes)) {
        found.key = none;
        found.subset = Subset{};
        return;
    }
    if (!found.subset.exact) {
        found.subset = best_subset(field.measure, w, values, field.growth.rules.limits, none, s);
    }
    found.key = found.subset.key;
    if (field.by_ratio() && found.key > none) {
        found.information =
            cut_information(field, w.n, units_of(values, found.subset.yes, w.n_classes));
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

// Notes the chosen test in the node; children and counts come with the split. False, and nothing
// noted, where its score is too small.
template <class M>
bool note_test(const Field<M>& field, const Whole& w, const Verdict& verdict, Found& found,
               const std::vector<Candidate>& candidates, Sprouts& sprouts, std::int64_t id,
               Scratch& s) {
    const Rules& rules = field.growth.rules;
    const Kind kind = field.column(verdict.attribute).kind;
    if (kind == Kind::subset && found.subset.chosen < verdict.target) {
        // the choice among equals depends on the best of all attributes
        found.subset =
            best_subset(field.measure, w, found.values(), rules.limits, verdict.peak, s);
    }
    if (kind == Kind::subset) found.chosen = found.subset.chosen;
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
    if (kind == Kind::cut) return true;
    node.value_start = static_cast<std::int64_t>(sprouts.values.size());
    node.n_values = static_cast<std::int64_t>(found.codes.size());
    std::int32_t branch = 0;
    const auto& yes = found.subset.yes;
    for (const std::int32_t code : found.codes) {
        const bool is_yes = std::binary_search(yes.begin(), yes.end(), code);
        sprouts.values.push_back(code);
        sprouts.branches.push_back(kind == Kind::multiway ? branch++ : (is_yes ? 0 : 1));
    }
    return true;
}

// Which branch is heavier, once the children's counts are known; the first of equals.
inline void weigh_branches(Sprouts& sprouts, std::int64_t id) {
    Sprout& node = sprouts.at(id);
    if (node.kind == Kind::multiway) return;
    const std::int64_t yes = sprouts.whole(node.first_child).n;
    const std::int64_t no = sprouts.whole(node.first_child + 1).n;
    node.heavier = yes >= no ? 0 : 1;
}

}  // namespace sortal
