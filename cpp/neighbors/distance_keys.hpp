// Keys, exactly: the terms of a row in the order of the columns, rows side by side.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/fixed_order_dot.hpp"

namespace sortal::neighbors {

// How a term enters the sum. (MSML euclidean) before the root.
struct Squares {
    static double add(double sum, double term, double) { return sum + term * term; }
};
// (MSML manhattan)
struct Absolutes {
    static double add(double sum, double term, double) { return sum + term; }
};
// (MSML minkowski) before the root.
struct Powers {
    static double add(double sum, double term, double p) { return sum + std::pow(term, p); }
};
struct Largest {
    static double add(double sum, double term, double) { return term > sum ? term : sum; }
};

// Columns after which a sum is compared with the limit.
constexpr std::int64_t stretch = 32;

// sums[r] = the sum of row r of a tile, whose column j lies at tile + j * width. Ends early, with
// sums that are too small, where all of them exceed the limit: sums only grow. (S 73)
template <class Term, std::int64_t width, class T>
SORTAL_INLINE bool tile_sums(const T* tile, std::int64_t m, const double* x, const double* factors,
                             double p, double limit, double* out) {
    double sums[static_cast<std::size_t>(width)] = {};
    for (std::int64_t from = 0; from < m; from += stretch) {
        const std::int64_t to = from + stretch < m ? from + stretch : m;
        for (std::int64_t j = from; j < to; ++j) {
            const T* column = tile + j * width;
            for (std::int64_t r = 0; r < width; ++r) {
                const double term = std::fabs(x[j] - static_cast<double>(column[r])) * factors[j];
                sums[r] = Term::add(sums[r], term, p);
            }
        }
        std::int64_t within = 0;
        for (std::int64_t r = 0; r < width; ++r) within += sums[r] <= limit;
        if (within == 0) return false;
    }
    for (std::int64_t r = 0; r < width; ++r) out[r] = sums[r];
    return true;
}

// The sums of eight rows that lie anywhere; eight at a time, because one sum waits for itself.
template <class Term, class T>
SORTAL_INLINE void row_sums(const T* const* rows, std::int64_t m, const double* x,
                            const double* factors, double* out) {
    double sums[8] = {};
    for (std::int64_t j = 0; j < m; ++j) {
        for (int r = 0; r < 8; ++r) {
            const double term = std::fabs(x[j] - static_cast<double>(rows[r][j])) * factors[j];
            sums[r] = Term::add(sums[r], term, 0.0);
        }
    }
    for (int r = 0; r < 8; ++r) out[r] = sums[r];
}

}  // namespace sortal::neighbors
