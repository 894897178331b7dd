// Pruning: when nodes of a tree become leaves, and trees with some of their tests taken out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace sortal::trees {

// A tree's branches as in tree.hpp, and what each node costs if it is a leaf. A child has a
// larger number than its parent.
struct Costed {
    std::int64_t n;
    const std::int64_t* child_start;
    const std::int32_t* children;
    const double* risk;
};

// For each node the least alpha at which the smallest tree that minimizes R + alpha · leaves has no
// test there: the node is a leaf of that tree or lies below one. 0 at the leaves of the whole tree.
// Numbers within 1e-12 of each other, relatively, are made one: the largest of them. (S 31)
std::vector<double> collapse_strengths(const Costed& tree);

}  // namespace sortal::trees
