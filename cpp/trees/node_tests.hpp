// All tests that a node could ask, judged and ranked as a growing tree does, for whoever wants to
// see them side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/tree.hpp"

namespace sortal::trees {

// What a node holds of one column: known values with their sizes, and beside them the rows without
// a value. V is listed in places of values; a missing value that is on a side is behind all.
struct NodeColumn : Attribute {
    const std::int64_t* missing;  // units by class
    std::int64_t missing_size;
    std::vector<std::int32_t> asked;  // a V that is listed in any case
};

// Where missing values go: to a side, which they may be alone, to a branch of their own, down every
// branch.
enum class Goes : std::int8_t { yes, no, alone, own_branch, every_branch };

// The tests of one attribute, those first that are taken first among equals; what the fields hold
// says `ColumnTests` in native/trees.py.
struct ColumnTests {
    std::vector<std::int64_t> yes, no;
    std::vector<double> thresholds;
    std::vector<std::vector<std::int32_t>> sets;
    std::vector<std::int8_t> missing;
    std::vector<double> keys;  // in the scale of the node; none: the test says nothing
    std::vector<double> scores, gains, information;
    std::vector<std::uint8_t> allowed, tied;
    std::vector<std::int64_t> ranks;
    bool exact = true;
    double candidates = 0.0;
    std::int64_t offer = -1;
    bool competes = false;
    std::int64_t joined = -1;
    std::vector<double> join_scores;
};

// `total` are the units of the whole fit, which fix the unit of logarithms.
std::vector<ColumnTests> node_tests(const std::vector<NodeColumn>& columns, const Whole& w,
                                    const GrowOptions& options, std::int64_t total);

}  // namespace sortal::trees
