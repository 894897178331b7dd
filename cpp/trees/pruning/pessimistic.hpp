// Pessimistic pruning as C4.5 does it (Quinlan 1993, chapter 4): estimates of errors, and subtrees
// that take their parent's place.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trees/tree.hpp"

namespace sortal::trees {

// What an upper bound of the error rate adds to e errors among n rows. (S 32)
class AddedErrors {
  public:
    explicit AddedErrors(double confidence);
    double operator()(double n, double e) const;

  private:
    double without_errors(double n) const;

    double log_confidence_, coefficient_;
};

// A tree after pruning. origin[i] is the node whose test (or leaf) stands at i, -1 for a new leaf;
// moved[i] says that it has other rows than it had there. Of nodes, only what rows need to find
// their way, units and sizes are set.
struct PrunedTree {
    Nodes nodes;
    std::vector<std::int32_t> origin;
    std::vector<std::uint8_t> moved;
};

// From the leaves up: a test becomes a leaf if that has no more estimated errors than its subtree
// or its largest branch with all rows, 0.1 allowed; else the branch takes its place if that has no
// more than the subtree. The rows of an estimate are effective rows; no missing value may spread.
PrunedTree prune_raising(const Nodes& tree, const std::vector<TreeColumn>& columns,
                         const TreeRows& rows, const AddedErrors& added,
                         const std::function<void()>& poll);

}  // namespace sortal::trees
