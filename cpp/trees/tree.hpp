// Trees: what is grown from a table, and how rows find their way through it.
//
// Words (beyond those of core/types.hpp and measures.hpp)
//   node     rows that share the answers to all tests above it
//   test     what a node asks: a cut (x <= v), a subset (x in V) or one branch per value
//   branch   an answer: 0 is yes and 1 is no; of one branch per value, by ascending codes
//   size     how many rows a node has, or copies of rows where weights are whole numbers
//   missing  a value that is not there: NaN; of codes, in growing the one after all others, and for
//            rows on their way -1
//   known    of a node and an attribute: the rows that have a value
//   bin      a range of a number column's values, at most 256 a column
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/types.hpp"
#include "trees/best_test.hpp"

namespace sortal::trees {

// A column as a tree reads it: numbers for a cut, codes for the other tests. Missing
// values are NaN, or the code n_values; all other codes lie below.
struct TreeColumn {
    Kind kind;
    Column<double> numbers;
    Column<std::int32_t> codes;
    std::int64_t n_values;
    bool has_missing = false;
};

// What missing values do at a node that asks their attribute. They take the side that makes the
// better test; or the known rows are searched by themselves, and the missing values have a branch
// of their own, go with the heavier branch, or go down every branch in parts.
enum class MissingPolicy { direction, branch, majority, fractional };

struct GrowOptions : Rules, Stops {
    std::int64_t max_leaves = -1;  // -1: no bound
    MissingPolicy policy = MissingPolicy::direction;
    int part_bits = 0;  // fractional: a row is 2^part_bits parts, and its units are
    int unit_bits = 0;  // counted in units 2^unit_bits as fine
};

// The limits on sizes where these count parts of rows. Parts are rounded: what misses a limit by a
// millionth of a row meets it.
GrowOptions in_parts(GrowOptions options);

// Rows with their labels and weights. A row's size is its units where `copies`, else what `sizes`
// says, else one.
struct TreeRows {
    std::int64_t n;
    std::int64_t n_classes;
    const std::int32_t* classes;
    const std::int64_t* units;  // null: every row weighs one
    bool copies;
    const std::int64_t* sizes = nullptr;
};

// What stands for a branch in Nodes::missing.
constexpr std::int32_t no_missing = -1, spread = -2;

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
    std::vector<std::int32_t> heavier;  // of the branches that known values take, the one of larger
                                        // weight; -1 where there is one a value
    std::vector<std::int32_t> missing;  // the branch of missing values; no_missing, or spread
    std::vector<std::int64_t> units;    // units[i * K + k]
    std::vector<std::int64_t> sizes;
    std::vector<double> score;
    std::vector<double> gain;
    std::vector<std::uint8_t> exact;
    std::vector<double> candidates;

    std::int64_t size() const { return static_cast<std::int64_t>(kind.size()); }
};

// The nodes in preorder. `poll` is called now and then by the calling thread; it throws to stop.
Nodes grow_tree(const std::vector<TreeColumn>& columns, const TreeRows& rows,
                const GrowOptions& options, int threads, const std::function<void()>& poll);

// out[i]: the node where row i ends. A missing value takes the branch that the node has for missing
// values. Where it has none, and for a value that the node does not know (an infinite number is
// one), it is the heavier branch, or the row ends at a node of one branch per value; fallback[i]
// (where wanted) is the first node where that happened, else -1. Where missing values spread, the
// first branch is followed.
void route_rows(const Nodes& tree, const std::vector<TreeColumn>& columns, std::int64_t n,
                std::int32_t* out, std::int32_t* fallback);

// Rows that spread. `weights` are those of the nodes.
//
// out[i * m + c]: the sum over the nodes where row i ends of its part there times answers[t * m +
// c].
void spread_answers(const Nodes& tree, const std::vector<TreeColumn>& columns, std::int64_t n,
                    const double* weights, const double* answers, std::int64_t m, double* out);
// out[t * K + k]: the sum of the rows of class k that come to node t, each by its weight and part.
void spread_counts(const Nodes& tree, const std::vector<TreeColumn>& columns, std::int64_t n,
                   const double* weights, const std::int32_t* classes, const double* row_weights,
                   std::int64_t n_classes, double* out);

}  // namespace sortal::trees
