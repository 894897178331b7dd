// Trees: what is grown from a table, and how rows find their way through it.
//
// Words (beyond those of core.hpp and scoring.hpp)
//   node     rows that share the answers to all tests above it
//   test     what a node asks: a cut (x <= v), a subset (x in V) or one branch per value
//   branch   an answer: 0 is yes and 1 is no; of one branch per value, by ascending codes
//   size     how many rows a node has, or copies of rows where weights are whole numbers
//   bin      a range of a number column's values, at most 256 a column
//   twig     a node so small that its whole subtree is grown in the cache
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "choice.hpp"
#include "core.hpp"

namespace sortal {

// A column as a tree reads it: numbers for a cut, codes below n_values for the other tests.
struct TreeColumn {
    Kind kind;
    Column<double> numbers;
    Column<std::int32_t> codes;
    std::int64_t n_values;
};

struct Growth {
    Rules rules;
    Stops stops;
    std::int64_t max_leaves;  // -1: no bound
    int threads;
};

// Rows with their labels and weights; sizes are sums of units where `copies`, else counts of rows.
struct TreeRows {
    std::int64_t n;
    std::int64_t n_classes;
    const std::int32_t* classes;
    const std::int64_t* units;  // null: every row weighs one
    bool copies;
};

// Nodes in a list, each with lists of branches and of values: node i's branches are
// children[child_start[i]] .. children[child_start[i + 1] - 1], its values likewise.
struct Nodes {
    std::int64_t n_classes = 0;
    std::vector<std::int8_t> kind;
    std::vector<std::int32_t> attribute;
    std::vector<double> threshold;
    std::vector<std::int64_t> child_start{0};
    std::vector<std::int32_t> children;
    std::vector<std::int64_t> value_start{0};
    std::vector<std::int32_t> values;    // codes present in the node, ascending
    std::vector<std::int32_t> branches;  // the branch that each of them takes
    std::vector<std::int32_t> heavier;   // the branch of larger weight; -1 where there is none
    std::vector<std::int64_t> units;     // units[i * K + k]
    std::vector<std::int64_t> sizes;
    std::vector<double> score;
    std::vector<double> gain;
    std::vector<std::uint8_t> exact;
    std::vector<double> candidates;

    std::int64_t size() const { return static_cast<std::int64_t>(kind.size()); }
};

// The nodes in preorder. `poll` is called now and then by the calling thread; it throws to stop.
Nodes grow_tree(const std::vector<TreeColumn>& columns, const TreeRows& rows, const Growth& growth,
                const std::function<void()>& poll);

// out[i]: the node where row i ends. A value the node does not know, and a NaN, take the heavier
// branch, or end at a node of one branch per value; fallback[i] (where wanted) is the first node
// where that happened, else -1.
void route_rows(const Nodes& tree, const std::vector<TreeColumn>& columns, std::int64_t n,
                std::int32_t* out, std::int32_t* fallback);

}  // namespace sortal
