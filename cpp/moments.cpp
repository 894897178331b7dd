// Moments: per class the weight, mean and squared deviations of one column of a block.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core.hpp"

namespace sortal {
namespace {

// Two passes about the mean, the second corrected by the sum of its own deviations (which would be
// zero without rounding). Always inlined, so that each caller compiles it for its own instructions.
__attribute__((always_inline)) inline void two_passes(Column<double> x, const Rows& rows,
                                                      ColumnMoments& out,
                                                      std::vector<double>& drift) {
    for (std::int64_t i = 0; i < rows.n; ++i) {
        if (std::isnan(x[i])) continue;
        const auto k = static_cast<std::size_t>(rows.classes[i]);
        const std::int64_t u = rows.units ? rows.units[i] : 1;
        out.units[k] += u;
        out.mean[k] += static_cast<double>(u) * x[i];
    }
    for (std::size_t k = 0; k < out.mean.size(); ++k) {
        if (out.units[k] > 0) out.mean[k] /= static_cast<double>(out.units[k]);
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
        const double first = out.mean[k];
        out.mean[k] = first + shift;
        // Knuth's two-sum: exact, whichever of the two is larger
        const double added = out.mean[k] - first;
        out.tail[k] = (first - (out.mean[k] - added)) + (shift - added);
        out.m2[k] = std::max(0.0, out.m2[k] - drift[k] * shift);
    }
}

void baseline(Column<double> x, const Rows& rows, ColumnMoments& out, std::vector<double>& drift) {
    two_passes(x, rows, out, drift);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target("arch=x86-64-v3"))) void avx2(Column<double> x, const Rows& rows,
                                                    ColumnMoments& out,
                                                    std::vector<double>& drift) {
    two_passes(x, rows, out, drift);
}
bool has_avx2() { return __builtin_cpu_supports("x86-64-v3"); }
#else
void avx2(Column<double> x, const Rows& rows, ColumnMoments& out, std::vector<double>& drift) {
    two_passes(x, rows, out, drift);
}
bool has_avx2() { return false; }
#endif

}  // namespace

ColumnMoments class_moments(Column<double> values, const Rows& rows, bool wide) {
    const auto K = static_cast<std::size_t>(rows.n_classes);
    ColumnMoments out{std::vector<std::int64_t>(K, 0), std::vector<double>(K, 0.0),
                      std::vector<double>(K, 0.0), std::vector<double>(K, 0.0)};
    std::vector<double> drift(K, 0.0);
    (wide && has_avx2() ? avx2 : baseline)(values, rows, out, drift);
    return out;
}

}  // namespace sortal
