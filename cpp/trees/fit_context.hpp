// What a fit fixes for all its nodes, and the nodes as they are made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tables/bins.hpp"
#include "trees/measures.hpp"
#include "trees/missing.hpp"
#include "trees/tree.hpp"

namespace sortal::trees {

using Label = std::uint16_t;

// The columns by codes: bins of numbers, and categories of up to 65,536 values. Categories of more
// values are read where they are.
struct Coded {
    std::vector<Bins> bins;                        // of cut columns, by column; empty elsewhere
    std::vector<std::vector<std::uint8_t>> bytes;  // by column; empty where codes need more
    std::vector<std::vector<std::uint16_t>> words;
    std::vector<std::int64_t> n_codes;  // by column; that of missing values is the last
};

// What a fit fixes for all its nodes.
template <class M>
struct FitContext {
    const std::vector<TreeColumn>& columns;
    const TreeRows& rows;
    const GrowOptions& options;
    const M& measure;
    const Logs& logs;
    const Coded& coded;

    std::int64_t n_columns() const { return static_cast<std::int64_t>(columns.size()); }
    std::int64_t n_classes() const { return rows.n_classes; }
    const TreeColumn& column(std::int64_t j) const { return columns[static_cast<std::size_t>(j)]; }
    bool by_ratio() const { return trees::by_ratio(options.criterion); }
    // where sizes are counted apart from units
    bool counts_rows() const { return rows.units != nullptr && !rows.copies; }
    std::int64_t unit(std::int64_t row) const { return rows.units ? rows.units[row] : 1; }
    std::int64_t size(std::int64_t row) const {
        return !counts_rows() ? unit(row) : rows.sizes ? rows.sizes[row] : 1;
    }
    // the code of missing values in a column; -1 where it has none
    std::int64_t missing_code(std::int64_t j) const {
        return column(j).has_missing ? coded.n_codes[static_cast<std::size_t>(j)] - 1 : -1;
    }
    bool by_side() const { return options.policy == MissingPolicy::direction; }
    // Parts missing values from the known rows, but where they take a side.
    void set_apart(const Whole& w, MissingRows& missing) const {
        if (!by_side()) missing.set_apart(measure, w, options.policy == MissingPolicy::branch);
    }
};

// A node as it is made: its children stand one after the other.
struct GrowingNode {
    Kind kind = Kind::leaf;
    std::int32_t attribute = -1;
    std::int32_t heavier = -1;
    std::int32_t missing = no_missing;
    std::int32_t depth = 0;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    double score = 0.0, gain = 0.0, candidates = 0.0;
    bool exact = true;
    bool taken = false;          // whether its test is asked: always, but for a bound on the leaves
    std::int32_t attached = -1;  // the list in which this node goes on, as its first
    std::int64_t size = 0;
    std::int64_t first_child = -1, n_children = 0;
    std::int64_t value_start = 0, n_values = 0;
};

struct GrowingNodes {
    std::int64_t n_classes = 0;
    std::vector<GrowingNode> nodes;
    std::vector<std::int64_t> units;
    std::vector<std::int32_t> values, branches;

    GrowingNode& at(std::int64_t id) { return nodes[static_cast<std::size_t>(id)]; }
    const GrowingNode& at(std::int64_t id) const { return nodes[static_cast<std::size_t>(id)]; }
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

// Items of rows, and room for as many.
template <class T>
struct List {
    T* items;
    T* spare;
};
template <class T>
List(T*, T*) -> List<T>;  // clang before 17 does not deduce it

// Moves the items from `begin` to before `end` so that those of each branch stand together, in
// their order; branch_of(item) is asked of the first list, and the others follow. stops[b] is where
// branch b ends.
template <class B, class T, class... Others>
void part_lists(std::int64_t begin, std::int64_t end, std::int64_t n_parts, B branch_of,
                std::vector<std::int64_t>& stops, List<T> first, List<Others>... others) {
    const auto each = [&](const auto& f) {
        f(first);
        (f(others), ...);
    };
    if (n_parts == 2) {
        std::int64_t yes = begin, no = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t is_no = branch_of(first.items[i]);
            each([&](const auto& list) {
                const auto item = list.items[i];
                list.items[yes] = item;
                list.spare[no] = item;
            });
            yes += 1 - is_no;
            no += is_no;
        }
        each([&](const auto& list) { std::copy_n(list.spare, no, list.items + yes); });
        stops = {yes, end};
        return;
    }
    stops.assign(static_cast<std::size_t>(n_parts) + 1, 0);
    for (std::int64_t i = begin; i < end; ++i) {
        ++stops[static_cast<std::size_t>(branch_of(first.items[i])) + 1];
    }
    std::partial_sum(stops.begin(), stops.end(), stops.begin());
    for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t to = stops[static_cast<std::size_t>(branch_of(first.items[i]))]++;
        each([&](const auto& list) { list.spare[to] = list.items[i]; });
    }
    each([&](const auto& list) { std::copy_n(list.spare, end - begin, list.items + begin); });
    stops.pop_back();
    for (std::int64_t& stop : stops) stop += begin;
}

}  // namespace sortal::trees
