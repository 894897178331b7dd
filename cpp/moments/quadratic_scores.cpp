// Squared distances of rows from several centers, each in a metric of its own: eight rows at a
// time, side by side in the lanes of the machine, so that what is added up is one row's own, in one
// order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/fixed_order_dot.hpp"
#include "core/portable.hpp"
#include "moments/moments.hpp"

namespace sortal {
namespace {

// As many numbers as fit into a register: wider ones than the machine has would live in memory.
typedef double Two SORTAL_VECTOR(2);
typedef double Four SORTAL_VECTOR(4);

// A term of eight rows.
struct alignas(lanes * sizeof(double)) Term {
    double of[lanes];
};

// Columns of a triangle that are multiplied together: their sums stay in registers. Of 1,000,000
// rows, 50 terms and 5 centers a thread took 0.51 s with four columns, 0.55 s with six.
constexpr std::int64_t columns_at_a_time = 4;

// The columns of a lower triangle, four beside each other, each from the first of the four rows on.
std::vector<double> packed(const double* triangle, std::int64_t d, std::int64_t r) {
    std::vector<double> out;
    for (std::int64_t j = 0; j < r; j += columns_at_a_time) {
        for (std::int64_t i = j; i < d; ++i) {
            for (std::int64_t c = j; c < j + columns_at_a_time; ++c) {
                out.push_back(c < r ? triangle[i * r + c] : 0.0);
            }
        }
    }
    return out;
}

SORTAL_INLINE void read_eight(const Design& design, const std::int64_t* rows, Term* x) {
    std::int64_t at = 0;
    for (const auto& column : design.numbers) {
        for (std::int64_t l = 0; l < lanes; ++l) x[at].of[l] = column[rows[l]];
        ++at;
    }
    for (std::size_t j = 0; j < design.codes.size(); ++j) {
        for (std::int64_t l = 0; l < lanes; ++l) {
            const std::int32_t code = design.codes[j][rows[l]];
            const double none = code < 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0;
            for (std::int64_t v = 0; v < design.sizes[j]; ++v) x[at + v].of[l] = none;
            if (code >= 0) x[at + code].of[l] = 1.0;
        }
        at += design.sizes[j];
    }
}

SORTAL_INLINE void subtract(const std::vector<Term>& x, const double* center, const double* rest,
                            std::vector<Term>& z) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::int64_t l = 0; l < lanes; ++l) z[i].of[l] = (x[i].of[l] - center[i]) - rest[i];
    }
}

SORTAL_INLINE Term plain_lengths(const std::vector<Term>& z) {
    Term out{};
    for (const Term& term : z) {
        for (std::int64_t l = 0; l < lanes; ++l) out.of[l] += term.of[l] * term.of[l];
    }
    return out;
}

// Two registers of rows at a time, so that there are as many left as the sums need.
template <class Some>
SORTAL_INLINE Term squared_lengths(const Term* z, const double* triangle, std::int64_t d,
                                   std::int64_t r) {
    constexpr std::int64_t width = sizeof(Some) / sizeof(double);
    Term out;
    for (std::int64_t l = 0; l < lanes; l += 2 * width) {
        Some total[2] = {};
        const double* t = triangle;
        for (std::int64_t j = 0; j < r; j += columns_at_a_time) {
            Some sums[columns_at_a_time][2] = {};
            for (std::int64_t i = j; i < d; ++i, t += columns_at_a_time) {
                const Some* rows = reinterpret_cast<const Some*>(z[i].of + l);
                for (std::int64_t c = 0; c < columns_at_a_time; ++c) {
                    sums[c][0] += t[c] * rows[0];
                    sums[c][1] += t[c] * rows[1];
                }
            }
            for (std::int64_t h = 0; h < 2; ++h) {
                total[h] += (sums[0][h] * sums[0][h] + sums[1][h] * sums[1][h]) +
                            (sums[2][h] * sums[2][h] + sums[3][h] * sums[3][h]);
            }
        }
        std::memcpy(out.of + l, total, sizeof total);
    }
    return out;
}

// What `square_rows` was called with.
struct Squaring {
    const Design& design;
    std::int64_t n;
    const double* centers;
    const double* rests;
    const std::vector<std::vector<double>>& triangles;
    std::int64_t r;
    double* out;
};

template <class Some>
SORTAL_INLINE std::int64_t square(const Squaring& s) {
    const std::int64_t d = s.design.n_terms;
    const auto K = static_cast<std::int64_t>(s.triangles.size());
    std::vector<Term> x(static_cast<std::size_t>(d)), z(x.size());
    std::int64_t not_finite = 0;
    for (std::int64_t begin = 0; begin < s.n; begin += lanes) {
        std::int64_t rows[lanes];
        for (std::int64_t l = 0; l < lanes; ++l) rows[l] = std::min(begin + l, s.n - 1);
        read_eight(s.design, rows, x.data());
        const std::int64_t size = std::min(lanes, s.n - begin);
        Term plain{};
        for (std::int64_t k = 0; k < K; ++k) {
            subtract(x, s.centers + k * d, s.rests + k * d, z);
            if (k == 0) plain = plain_lengths(z);
            const double* triangle = s.triangles[static_cast<std::size_t>(k)].data();
            const Term squares = squared_lengths<Some>(z.data(), triangle, d, s.r);
            for (std::int64_t l = 0; l < size; ++l) s.out[(begin + l) * K + k] = squares.of[l];
        }
        for (std::int64_t l = 0; l < size; ++l) {
            if (std::isfinite(plain.of[l])) continue;
            std::fill_n(s.out + (begin + l) * K, K, std::numeric_limits<double>::quiet_NaN());
            ++not_finite;
        }
    }
    return not_finite;
}

std::int64_t baseline(const Squaring& s) { return square<Two>(s); }

SORTAL_FOR_AVX2 std::int64_t avx2(const Squaring& s) { return square<Four>(s); }

}  // namespace

std::int64_t square_rows(const Design& design, std::int64_t n, const double* centers,
                         const double* rests, const double* triangles, std::int64_t K,
                         std::int64_t r, bool wide, double* out) {
    std::vector<std::vector<double>> tight;
    for (std::int64_t k = 0; k < K; ++k) {
        tight.push_back(packed(triangles + k * design.n_terms * r, design.n_terms, r));
    }
    const Squaring s{design, n, centers, rests, tight, r, out};
    return wide && SORTAL_HAS_AVX2() ? avx2(s) : baseline(s);
}

}  // namespace sortal
