// Scores of a partition, and of a node's tests side by side, for whoever wants to see them all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

// Keys as in measures.hpp, none for a test that says nothing; scores of the measure, which for the
// gain ratio is the gain; split information in units of logarithms. `base` is the key of no test.
struct SplitScores {
    std::vector<double> keys;
    std::vector<double> scores;
    std::vector<double> information;
    double base = 0.0;
};

// `total` are the units of the whole fit, which fix the unit of logarithms.
//
// Tests with two sides: yes[i * K + k] are the units of class k on the yes side of test i.
SplitScores score_tests(const Whole& w, const std::int64_t* yes, std::int64_t n_tests,
                        Criterion criterion, std::int64_t total);

// One test with a branch for each of n_parts parts; not of a measure that knows two sides only.
SplitScores score_branches(const Whole& w, const std::int64_t* parts, std::int64_t n_parts,
                           Criterion criterion, std::int64_t total);

// The least key that counts as equal to this one, if it is the largest.
double tie_threshold(double key, std::int64_t n_classes, Criterion criterion);

}  // namespace sortal::trees
