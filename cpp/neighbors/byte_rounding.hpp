// Rows as whole numbers of one byte, and what the two distances need to know of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/portable.hpp"
#include "neighbors/byte_loops.hpp"
#include "neighbors/distance_keys.hpp"

namespace sortal::neighbors {

// Far more than rounding in float64 can do to any bound here.
constexpr double slack = 1e-9;

// Keys of eight rows.
#define SORTAL_KEYS(Term, T)                                                                       \
    SORTAL_CLONES inline void keys_of(Term, const T* const* rows, std::int64_t m, const double* x, \
                                      const double* f, double* out) {                              \
        row_sums<Term>(rows, m, x, f, out);                                                        \
    }
SORTAL_KEYS(Squares, float)
SORTAL_KEYS(Squares, double)
SORTAL_KEYS(Absolutes, float)
SORTAL_KEYS(Absolutes, double)
#undef SORTAL_KEYS

// A row as whole numbers of steps.
struct Rounded {
    double error;          // the size of what rounding left, a bound, in steps
    std::int64_t squares;  // of the whole numbers
    std::int64_t total;    // their sum
    bool wild;             // a number lies beyond the range
};

// A number this large has no places after the point: adding it and taking it away rounds.
constexpr double no_fraction = 6755399441055744.0;

// whole[j] = z[j] / step, rounded and brought within `levels`; in eight lanes.
template <class Size>
SORTAL_INLINE Rounded round_all(const double* z, std::int64_t m, double step, int levels,
                                std::int32_t* whole) {
    const double per_step = 1.0 / step, most = levels;
    double error[lanes] = {}, size[lanes] = {}, squares[lanes] = {}, total[lanes] = {};
    double largest[lanes] = {};
    const auto one = [&](std::int64_t j, std::int64_t l) {
        const double x = z[j] * per_step;
        const double inside = x < -most ? -most : x > most ? most : x;
        const double a = (inside + no_fraction) - no_fraction;
        error[l] = Size::add(error[l], x - a);
        size[l] = Size::add(size[l], x);
        squares[l] += a * a;
        total[l] += a;
        const double magnitude = std::fabs(x);
        largest[l] = magnitude > largest[l] ? magnitude : largest[l];
        whole[j] = static_cast<std::int32_t>(a);
    };
    std::int64_t j = 0;
    for (; j + lanes <= m; j += lanes) {
        for (std::int64_t l = 0; l < lanes; ++l) one(j + l, l);
    }
    for (; j < m; ++j) one(j, 0);
    for (std::int64_t l = 1; l < lanes; ++l) {
        error[0] += error[l];
        size[0] += size[l];
        squares[0] += squares[l];
        total[0] += total[l];
        largest[0] = std::max(largest[0], largest[l]);
    }
    const double left = Size::size(error[0]) * (1.0 + slack) + Size::size(size[0]) * 1e-12;
    return {left, static_cast<std::int64_t>(squares[0]), static_cast<std::int64_t>(total[0]),
            !(largest[0] <= most + 1.0) || !std::isfinite(left)};
}

struct SquaredSize {
    static double size(double sum) { return std::sqrt(sum); }
    static double add(double sum, double e) { return sum + e * e; }
};
struct AbsoluteSize {
    static double size(double sum) { return sum; }
    static double add(double sum, double e) { return sum + std::fabs(e); }
};
SORTAL_CLONES inline Rounded round_squares(const double* z, std::int64_t m, double step, int levels,
                                           std::int32_t* whole) {
    return round_all<SquaredSize>(z, m, step, levels, whole);
}
SORTAL_CLONES inline Rounded round_absolutes(const double* z, std::int64_t m, double step,
                                             int levels, std::int32_t* whole) {
    return round_all<AbsoluteSize>(z, m, step, levels, whole);
}

// What a thread writes to.
struct Scratch {
    std::vector<double> z;
    std::vector<std::int32_t> whole;
};

// Distances of whole numbers: `apart` is their squared distance, or their distance along the axes.
struct Euclidean : SquaredSize {
    static constexpr std::int32_t wild_base = std::numeric_limits<std::int32_t>::min() / 2;
    static constexpr double least_step = 1e-140;
    static ByteLoop loop(int wide) { return product_loop(wide); }
    static double sum(double size) { return size * size; }
    static constexpr auto round = round_squares;
    // A row's sum begins at minus half of its squares, so that it grows as the row gets nearer.
    static std::int32_t base(std::int64_t squares) {
        return static_cast<std::int32_t>(-(squares / 2));
    }
    static std::uint8_t query_byte(const ByteLoop&, std::int32_t a) {
        return static_cast<std::uint8_t>(static_cast<std::int8_t>(a));
    }
    using Term = Squares;
};
struct Manhattan : AbsoluteSize {
    static constexpr std::int32_t wild_base = 1 << 30;
    static constexpr double least_step = 1e-290;
    static ByteLoop loop(int wide) { return difference_loop(wide); }
    static double sum(double size) { return size; }
    static constexpr auto round = round_absolutes;
    static std::int32_t base(std::int64_t) { return 0; }
    static std::uint8_t query_byte(const ByteLoop& loop, std::int32_t a) {
        return loop.row_byte(a);
    }
    using Term = Absolutes;
};

}  // namespace sortal::neighbors
