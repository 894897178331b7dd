// Judging: tests of a node side by side, for whoever wants to see them all.
#pragma once

#include <cstdint>
#include <vector>

#include "choice.hpp"

namespace sortal {

// Keys as in scoring.hpp, -infinity for a test that says nothing; scores of the measure, which for
// the gain ratio is the gain; split information in units of logarithms. `base` is the key of no test.
struct Judged {
    std::vector<double> keys;
    std::vector<double> scores;
    std::vector<double> information;
    double base = 0.0;
};

// Tests with two sides: yes[i * K + k] are the units of class k on the yes side of test i.
Judged judge_tests(const Whole& w, const std::int64_t* yes, std::int64_t n_tests,
                   Criterion criterion, const Logs& logs);

// One test with a branch for each of n_parts parts; not CART, which knows two sides only.
Judged judge_parts(const Whole& w, const std::int64_t* parts, std::int64_t n_parts,
                   Criterion criterion, const Logs& logs);

// The least key that counts as equal to this one, if it is the largest.
double equal_from(double key, std::int64_t n_classes, Criterion criterion);

}  // namespace sortal
