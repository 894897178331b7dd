// Scores of a partition, for whoever wants to see them all.
#pragma once

#include <cstdint>
#include <optional>

#include "trees/best_test.hpp"

namespace sortal::trees {

// Scores of a partition, each times n: `entropy` of the whole, `split_entropy` of the parts by
// their size and `split_information` in units of 2^-shift; `squares` is n (1 - G(D)), and
// `cart` n^2 / 2 times that measure of two parts. `nothing`: every part has the shares of the
// whole, so that all scores are zero.
struct PartitionScores {
    bool nothing = true;
    std::int64_t entropy = 0;
    std::int64_t split_entropy = 0;
    std::int64_t split_information = 0;
    double squares = 0.0;
    double gini_decrease = 0.0;
    std::optional<double> cart;
};

// parts[p * K + k] are the units of class k in part p.
PartitionScores score_parts(const Whole& w, const std::int64_t* parts, std::int64_t n_parts,
                            int shift);

}  // namespace sortal::trees
