// Scores of a partition of labeled rows into any number of parts, from its table of counts.
//
// Words (beyond those of core/types.hpp)
//   part     one side of a partition; p of P
//   table    counts[p * K + k]: the units of class k in part p
//
// A score is a pure function of the counts: the same bits from a table as from any scan that keeps
// the counts. It is zero if and only if every part has the shares of the whole.
#pragma once

#include <cstdint>

#include "trees/logarithms.hpp"

namespace sortal::trees {

struct Counts {
    const std::int64_t* cells;  // cells[p * K + k]
    std::int64_t n_parts;
    std::int64_t n_classes;

    std::int64_t at(std::int64_t p, std::int64_t k) const { return cells[p * n_classes + k]; }
    std::int64_t part(std::int64_t p) const {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < n_classes; ++k) sum += at(p, k);
        return sum;
    }
    std::int64_t klass(std::int64_t k) const {
        std::int64_t sum = 0;
        for (std::int64_t p = 0; p < n_parts; ++p) sum += at(p, k);
        return sum;
    }
    std::int64_t total() const {
        std::int64_t sum = 0;
        for (std::int64_t p = 0; p < n_parts; ++p) sum += part(p);
        return sum;
    }
};

// n H(D) = n log n - sum n_i log n_i, as in (ZM 19.3) and (MSML entropy), of one part or, with
// p < 0, of the whole.
inline std::int64_t entropy_units(const Counts& t, std::int64_t p, int shift) {
    std::int64_t units = log_units(p < 0 ? t.total() : t.part(p), shift);
    for (std::int64_t k = 0; k < t.n_classes; ++k) {
        units -= log_units(p < 0 ? t.klass(k) : t.at(p, k), shift);
    }
    return units;
}

// n H(D_1, D_2, ...), the parts by their size: (ZM 19.4), for any number of parts (MSML gain).
inline std::int64_t split_entropy_units(const Counts& t, int shift) {
    std::int64_t units = 0;
    for (std::int64_t p = 0; p < t.n_parts; ++p) units += entropy_units(t, p, shift);
    return units;
}

// n log n - sum n_p log n_p: what C4.5 divides the gain by. (S 20)
inline std::int64_t split_information_units(const Counts& t, int shift) {
    std::int64_t units = log_units(t.total(), shift);
    for (std::int64_t p = 0; p < t.n_parts; ++p) units -= log_units(t.part(p), shift);
    return units;
}

// sum_k c_k^2 / n of one part or, with p < 0, of the whole; n (1 - G) of (ZM 19.6), (MSML gini).
inline double squares(const Counts& t, std::int64_t p) {
    const std::int64_t n = p < 0 ? t.total() : t.part(p);
    if (n == 0) return 0.0;
    unsigned __int128 sum = 0;
    for (std::int64_t k = 0; k < t.n_classes; ++k) {
        const auto c = static_cast<unsigned __int128>(p < 0 ? t.klass(k) : t.at(p, k));
        sum += c * c;
    }
    return static_cast<double>(sum) / static_cast<double>(n);
}

// n (G(D) - G(D_1, D_2, ...)): the decrease of (ZM 19.6).
inline double gini_decrease(const Counts& t) {
    double after = 0.0;
    for (std::int64_t p = 0; p < t.n_parts; ++p) after += squares(t, p);
    return after - squares(t, -1);
}

// sum_k |l_k n_r - r_k n_l| of two parts: n^2 / 2 times (ZM 19.7).
inline double cart(const Counts& t) {
    const auto n_l = static_cast<__int128>(t.part(0)), n_r = static_cast<__int128>(t.part(1));
    unsigned __int128 sum = 0;
    for (std::int64_t k = 0; k < t.n_classes; ++k) {
        const __int128 apart = static_cast<__int128>(t.at(0, k)) * n_r - t.at(1, k) * n_l;
        sum += static_cast<unsigned __int128>(apart < 0 ? -apart : apart);
    }
    return static_cast<double>(sum);
}

// Whether every part has the shares of the whole: c_pk n = c_k n_p for all of them.
inline bool says_nothing(const Counts& t) {
    const auto n = static_cast<__int128>(t.total());
    for (std::int64_t p = 0; p < t.n_parts; ++p) {
        const auto size = static_cast<__int128>(t.part(p));
        for (std::int64_t k = 0; k < t.n_classes; ++k) {
            if (t.at(p, k) * n != t.klass(k) * size) return false;
        }
    }
    return true;
}

}  // namespace sortal::trees
