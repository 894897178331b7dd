// Moments: per class the weight, mean and squared deviations of one column of a block; and rows
// about an origin, whose products are the moments of all columns together.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/fixed_order_dot.hpp"
#include "core/portable.hpp"
#include "moments/moments.hpp"

namespace sortal {
namespace {

// Two passes about the mean, the second corrected by the sum of its own deviations (which would be
// zero without rounding). The first adds up distances from a class's first value, so that the mean
// of equal values is that value, whatever their weights.
void two_passes(Column<double> x, const Rows& rows, ColumnMoments& out,
                std::vector<double>& drift) {
    std::vector<double> first(out.mean.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t i = 0; i < rows.n; ++i) {
        if (std::isnan(x[i])) continue;
        const auto k = static_cast<std::size_t>(rows.classes[i]);
        const std::int64_t u = rows.units ? rows.units[i] : 1;
        if (std::isnan(first[k])) first[k] = x[i];
        out.units[k] += u;
        out.mean[k] += static_cast<double>(u) * (x[i] - first[k]);
    }
    for (std::size_t k = 0; k < out.mean.size(); ++k) {
        if (out.units[k] > 0) {
            out.mean[k] = first[k] + out.mean[k] / static_cast<double>(out.units[k]);
        }
    }
    for (std::int64_t i = 0; i < rows.n; ++i) {
        if (std::isnan(x[i])) continue;
        const auto k = static_cast<std::size_t>(rows.classes[i]);
        const double u = static_cast<double>(rows.units ? rows.units[i] : 1);
        const double d = x[i] - out.mean[k];
        drift[k] += u * d;
        out.m2[k] += u * d * d;
    }
    for (std::size_t k = 0; k < out.mean.size(); ++k) {
        if (out.units[k] == 0) continue;
        const double w = static_cast<double>(out.units[k]);
        const double shift = drift[k] / w;
        const double rough = out.mean[k];
        out.mean[k] = rough + shift;
        // Knuth's two-sum: exact, whichever of the two is larger
        const double added = out.mean[k] - rough;
        out.tail[k] = (rough - (out.mean[k] - added)) + (shift - added);
        out.m2[k] = std::max(0.0, out.m2[k] - drift[k] * shift);
    }
}

}  // namespace

ColumnMoments class_moments(Column<double> values, const Rows& rows) {
    const auto K = static_cast<std::size_t>(rows.n_classes);
    ColumnMoments out{std::vector<std::int64_t>(K, 0), std::vector<double>(K, 0.0),
                      std::vector<double>(K, 0.0), std::vector<double>(K, 0.0)};
    std::vector<double> drift(K, 0.0);
    two_passes(values, rows, out, drift);
    return out;
}

namespace {

// What `center_rows` was called with. Each step below does the rows from `begin` to before `end`.
struct Centering {
    const Design& design;
    const std::int64_t* rows;
    std::int64_t n;
    const double* origin;
    const double* fill;
    const double* scale;
    double* out;

    std::int64_t row(std::int64_t i) const { return rows ? rows[i] : i; }
    double* z(std::int64_t i) const { return out + i * (design.n_terms + 2); }
};

SORTAL_INLINE double filled(double x, double instead) { return x != x ? instead : x; }

SORTAL_INLINE void center_stretches(const Centering& c, std::int64_t begin, std::int64_t end) {
    const Column<double> first = c.design.numbers[0];
    const auto d = static_cast<std::int64_t>(c.design.numbers.size());
    for (std::int64_t i = begin; i < end; ++i) {
        if (i + lanes < c.n) {
            // the rows of a class lie scattered: fetch one while others are worked on
            const double* later = &first[c.row(i + lanes)];
            for (std::int64_t j = 0; j < d; j += lanes) SORTAL_PREFETCH(later + j);
        }
        const double* x = &first[c.row(i)];
        double* z = c.z(i);
        if (c.fill) {
            for (std::int64_t j = 0; j < d; ++j) z[j] = filled(x[j], c.fill[j]) - c.origin[j];
        } else {
            for (std::int64_t j = 0; j < d; ++j) z[j] = x[j] - c.origin[j];
        }
    }
}

// One column at a time, while the rows of `out` stay in the cache.
SORTAL_INLINE void center_columns(const Centering& c, std::int64_t begin, std::int64_t end) {
    for (std::size_t j = 0; j < c.design.numbers.size(); ++j) {
        const Column<double> x = c.design.numbers[j];
        const double instead = c.fill ? c.fill[j] : std::numeric_limits<double>::quiet_NaN();
        const double center = c.origin[j];
        for (std::int64_t i = begin; i < end; ++i) {
            c.z(i)[j] = filled(x[c.row(i)], instead) - center;
        }
    }
}

SORTAL_INLINE void center_indicators(const Centering& c, std::int64_t begin, std::int64_t end) {
    auto at = static_cast<std::int64_t>(c.design.numbers.size());
    for (std::size_t j = 0; j < c.design.codes.size(); ++j) {
        const std::int64_t size = c.design.sizes[j];
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int32_t code = c.design.codes[j][c.row(i)];
            double* z = c.z(i) + at;
            if (code >= 0) {
                for (std::int64_t v = 0; v < size; ++v) z[v] = 0.0 - c.origin[at + v];
                z[code] = 1.0 - c.origin[at + code];
            } else if (c.fill) {
                for (std::int64_t v = 0; v < size; ++v) z[v] = c.fill[at + v] - c.origin[at + v];
            } else {
                std::fill_n(z, size, std::numeric_limits<double>::quiet_NaN());
            }
        }
        at += size;
    }
}

SORTAL_INLINE std::int64_t finish(const Centering& c, std::int64_t begin, std::int64_t end) {
    const std::int64_t d = c.design.n_terms;
    std::int64_t not_finite = 0;
    for (std::int64_t i = begin; i < end; ++i) {
        double* z = c.z(i);
        z[d] = 1.0;
        z[d + 1] = dot(z, z, d);
        not_finite += !std::isfinite(z[d + 1]);
        if (c.scale) {
            for (std::int64_t j = 0; j < d + 2; ++j) z[j] *= c.scale[i];
        }
    }
    return not_finite;
}

}  // namespace

SORTAL_CLONES std::int64_t center_rows(const Design& design, const std::int64_t* rows,
                                       std::int64_t n, const double* origin, const double* fill,
                                       const double* scale, double* out) {
    const Centering c{design, rows, n, origin, fill, scale, out};
    const bool stretches = side_by_side(design.numbers);
    std::int64_t not_finite = 0;
    for (std::int64_t begin = 0; begin < n; begin += tile_rows) {
        const std::int64_t end = std::min(begin + tile_rows, n);
        if (stretches) {
            center_stretches(c, begin, end);
        } else {
            center_columns(c, begin, end);
        }
        center_indicators(c, begin, end);
        not_finite += finish(c, begin, end);
    }
    return not_finite;
}

}  // namespace sortal
