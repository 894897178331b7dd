// Moments of rows about an origin, and the scores that are linear or quadratic in a row.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace sortal {

// moments.cpp ------------------------------------------------------------------------------------

// Per class: units, mean and sum of squared deviations (in units) of the values that are numbers.
// The mean is mean + tail: the tail is what a float64 cannot hold of it, less than its last digit.
struct ColumnMoments {
    std::vector<std::int64_t> units;
    std::vector<double> mean;
    std::vector<double> tail;
    std::vector<double> m2;
};

ColumnMoments class_moments(Column<double> values, const Rows& rows);

// Rows as numbers only: the number columns, then for each code column one indicator per value, 1 in
// the rows that have the value and 0 elsewhere.
struct Design {
    std::vector<Column<double>> numbers;
    std::vector<Column<std::int32_t>> codes;
    std::vector<std::int64_t> sizes;  // values per code column; codes lie below
    std::int64_t n_terms;             // numbers and indicators
};

// out[i] = scale[i] * (z, 1, |z|^2), z = x - origin, for the chosen rows x (null: the first n). The
// product of this block with itself holds every sum that the discriminants need. A missing value
// takes the values of `fill`, NaN where it is null. Returns how many rows have an |z|^2 that is not
// finite.
std::int64_t center_rows(const Design& design, const std::int64_t* rows, std::int64_t n,
                         const double* origin, const double* fill, const double* scale,
                         double* out);

// linear_scores.cpp ------------------------------------------------------------------------------

// out[i * m + k] = offsets[k] + sum over terms of (x - center) * weights[k * n_terms + j], for the
// first n rows. A row with a missing value or an infinity becomes NaN; returns how many did.
std::int64_t map_rows(const Design& design, std::int64_t n, const double* center,
                      const double* weights, const double* offsets, std::int64_t m, double* out);

// quadratic_scores.cpp ---------------------------------------------------------------------------

// out[i * K + k] = the squared length of ((x - centers[k]) - rests[k]) times a lower triangle of r
// columns, for the first n rows; rests hold what a float64 cannot of a center far from 0. A row
// with a missing value or an infinity becomes NaN; returns how many did. `wide` asks for the AVX2
// version where the machine has it; the digits are the same.
std::int64_t square_rows(const Design& design, std::int64_t n, const double* centers,
                         const double* rests, const double* triangles, std::int64_t K,
                         std::int64_t r, bool wide, double* out);

}  // namespace sortal
