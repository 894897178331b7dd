// Scores of a node's tests side by side, for whoever wants to see them all.
#pragma once

#include <cstdint>
#include <vector>

#include "trees/best_test.hpp"

namespace sortal::trees {

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

}  // namespace sortal::trees
