// Keys, exactly: the terms of a row in the order of the columns, rows side by side. All that a
// metric needs to know is here.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fixed_order_dot.hpp"

namespace sortal::neighbors {

struct Metric {
    double power;                 // 1, 2, another p, or infinity: the largest term
    std::vector<double> factors;  // one a number column
    std::int64_t n_columns;       // numbers and codes
};

struct Differences {
    static double term(double x, double t, double factor) { return std::fabs(x - t) * factor; }
};
// How a term enters the sum. (MSML euclidean) before the root.
struct Squares : Differences {
    static double add(double sum, double term, double) { return sum + term * term; }
};
// (MSML manhattan)
struct Absolutes : Differences {
    static double add(double sum, double term, double) { return sum + term; }
};
// (MSML minkowski) before the root.
struct Powers : Differences {
    static double add(double sum, double term, double p) { return sum + std::pow(term, p); }
};
struct Largest : Differences {
    static double add(double sum, double term, double) { return term > sum ? term : sum; }
};

// For loops that are compiled for each of them.
#define SORTAL_EACH_TERM(LOOPS) LOOPS(Squares) LOOPS(Absolutes) LOOPS(Powers) LOOPS(Largest)

// Calls f with the terms of a metric.
template <class F>
auto with_terms(const Metric& metric, F&& f) {
    if (metric.power == 2.0) return f(Squares{});
    if (metric.power == 1.0) return f(Absolutes{});
    return std::isinf(metric.power) ? f(Largest{}) : f(Powers{});
}

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
                const double term = Term::term(x[j], static_cast<double>(column[r]), factors[j]);
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
            const double term = Term::term(x[j], static_cast<double>(rows[r][j]), factors[j]);
            sums[r] = Term::add(sums[r], term, 0.0);
        }
    }
    for (int r = 0; r < 8; ++r) out[r] = sums[r];
}

}  // namespace sortal::neighbors
