// Linear functions of rows: centered, multiplied and added up while a row is in the cache.
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

// A tile of 50 terms stays in the first-level cache.
constexpr std::int64_t rows_at_a_time = 64;

void advance(Design& design, std::int64_t rows) {
    for (auto& x : design.numbers) x = x.from(rows);
    for (auto& x : design.codes) x = x.from(rows);
}

}  // namespace

SORTAL_CLONES std::int64_t map_rows(const Design& design, std::int64_t n, const double* center,
                                    const double* weights, const double* offsets, std::int64_t m,
                                    double* out) {
    const std::int64_t d = design.n_terms;
    std::vector<double> tile(static_cast<std::size_t>(std::min(n, rows_at_a_time) * (d + 2)));
    Design ahead = design;  // its columns begin at the tile's first row
    std::int64_t not_finite = 0;
    for (std::int64_t begin = 0; begin < n; begin += rows_at_a_time) {
        const std::int64_t size = std::min(rows_at_a_time, n - begin);
        not_finite += center_rows(ahead, nullptr, size, center, nullptr, nullptr, tile.data());
        advance(ahead, size);
        for (std::int64_t i = 0; i < size; ++i) {
            const double* z = tile.data() + i * (d + 2);
            double* values = out + (begin + i) * m;
            if (!std::isfinite(z[d + 1])) {
                std::fill_n(values, m, std::numeric_limits<double>::quiet_NaN());
                continue;
            }
            for (std::int64_t k = 0; k < m; ++k) {
                values[k] = offsets[k] + dot(z, weights + k * d, d);
            }
        }
    }
    return not_finite;
}

}  // namespace sortal
