// Scoring: how well a partition of labeled rows tells the classes apart, from whole numbers alone.
//
// Words (beyond those of core.hpp)
//   part     one side of a partition; p of P
//   table    counts[p * K + k]: the units of class k in part p
//   units    of a logarithm: multiples of 2^-shift, so that sums of them are exact in any order
//
// A score is a pure function of the counts: the same bits from a table as from any scan that keeps
// the counts. It is zero if and only if every part has the shares of the whole.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

namespace sortal {

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

// Whether all logarithms up to c log2 c stay below 2^52 units, where a double still tells whole
// numbers apart.
inline bool logs_fit(std::int64_t c, int shift) {
    const auto x = static_cast<double>(c);
    return std::ldexp(x * std::log2(x + 1.0), shift) < 0x1p52;
}

// c log2 c in units, rounded once.
inline std::int64_t log_units(std::int64_t c, int shift) {
    if (c < 2) return 0;
    const auto x = static_cast<double>(c);
    return std::llround(std::ldexp(x * std::log2(x), shift));
}

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

// Two sides ---------------------------------------------------------------------------------------
//
// A test of a tree parts a node's rows in two. Its *key* is the score up to what is the same for all
// tests of the node: score = (key - base) * scale. Larger is better. A key is a pure function of
// whole numbers, with the same bits from a scan as from a table. (S 22)
//
// Class shares of the sides are never formed: their counts l_k and n_k - l_k are enough. Of a cut
// these are the numerators of (ZM 19.14) and (ZM 19.16), of a subset those of (ZM 19.21) and
// (ZM 19.22).

// What a node holds: counts[k] units of class k, n in all.
struct Whole {
    const std::int64_t* counts;
    std::int64_t n;
    std::int64_t n_classes;
};

inline std::int64_t sum_of(const std::int64_t* counts, std::int64_t n_classes) {
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < n_classes; ++k) n += counts[k];
    return n;
}

// Below this many units the squares of counts add up within 63 bits.
constexpr std::int64_t narrow_units = std::int64_t{1} << 31;

// sum_k c_k^2 / n as one division of exact whole numbers.
inline double squares_of(const std::int64_t* c, std::int64_t n, std::int64_t n_classes) {
    if (n == 0) return 0.0;
    if (n < narrow_units) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < n_classes; ++k) sum += c[k] * c[k];
        return static_cast<double>(sum) / static_cast<double>(n);
    }
    unsigned __int128 sum = 0;
    for (std::int64_t k = 0; k < n_classes; ++k) {
        const auto x = static_cast<unsigned __int128>(c[k]);
        sum += x * x;
    }
    return static_cast<double>(sum) / static_cast<double>(n);
}

// c log2 c in units for a whole fit: from a table while counts are small, by `log_units` beyond.
class Logs {
  public:
    // At most this many entries: 8 MB, all counts of a table of a million rows.
    static constexpr std::int64_t most = std::int64_t{1} << 20;

    // Logarithms up to n log2 n stay below 2^52 units.
    explicit Logs(std::int64_t n) : Logs(n, shift_for(n)) {}
    Logs(std::int64_t n, int shift) : shift_(shift) {
        const std::int64_t size = n < most ? n + 1 : most;
        table_.reserve(static_cast<std::size_t>(size));
        for (std::int64_t c = 0; c < size; ++c) table_.push_back(log_units(c, shift));
    }
    static int shift_for(std::int64_t n) {
        const auto x = static_cast<double>(n);
        int exponent = 0;
        (void)std::frexp(x * std::log2(x + 1.0), &exponent);
        return 51 - exponent;
    }
    int shift() const { return shift_; }
    std::int64_t operator()(std::int64_t c) const {
        return c < static_cast<std::int64_t>(table_.size()) ? table_[static_cast<std::size_t>(c)]
                                                            : log_units(c, shift_);
    }

  private:
    int shift_;
    std::vector<std::int64_t> table_;
};

// The measures. `key` is of the side that holds the units l, n_l of them; `part` is what one part of
// any number adds to the key of a partition (not CART, which knows two sides only). Keys at most
// `near` may be rounding alone: there `side_alike` decides, and what is not zero counts as `least`.

// Information gain (ZM 19.5), in units of logarithms.
struct Gain {
    const Logs* logs;

    static double tau(double, std::int64_t n_classes) {
        return static_cast<double>(2 * (n_classes + 1));
    }
    double part(const std::int64_t* c, std::int64_t n, std::int64_t n_classes) const {
        std::int64_t units = -(*logs)(n);
        for (std::int64_t k = 0; k < n_classes; ++k) units += (*logs)(c[k]);
        return static_cast<double>(units);
    }
    double key(const Whole& w, const std::int64_t* l, std::int64_t n_l) const {
        std::int64_t units = -(*logs)(n_l) - (*logs)(w.n - n_l);
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            units += (*logs)(l[k]) + (*logs)(w.counts[k] - l[k]);
        }
        return static_cast<double>(units);
    }
    double base(const Whole& w) const { return part(w.counts, w.n, w.n_classes); }
    double near(const Whole& w) const {
        return base(w) + static_cast<double>(4 * (w.n_classes + 1));
    }
    double least(const Whole& w) const { return base(w) + 1.0; }
    // bits a row
    double score(const Whole& w, double key) const {
        return std::ldexp(key - base(w), -logs->shift()) / static_cast<double>(w.n);
    }
};

// The decrease of the Gini index (ZM 19.6).
struct Gini {
    static double tau(double key, std::int64_t) {
        return 4.0 * (std::nextafter(key, std::numeric_limits<double>::infinity()) - key);
    }
    double part(const std::int64_t* c, std::int64_t n, std::int64_t n_classes) const {
        return squares_of(c, n, n_classes);
    }
    double key(const Whole& w, const std::int64_t* l, std::int64_t n_l) const {
        const std::int64_t n_r = w.n - n_l;
        if (w.n < narrow_units) {
            std::int64_t a = 0, b = 0;
            for (std::int64_t k = 0; k < w.n_classes; ++k) {
                const std::int64_t r = w.counts[k] - l[k];
                a += l[k] * l[k];
                b += r * r;
            }
            return quotient(static_cast<double>(a), n_l) + quotient(static_cast<double>(b), n_r);
        }
        unsigned __int128 a = 0, b = 0;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const auto x = static_cast<unsigned __int128>(l[k]);
            const auto y = static_cast<unsigned __int128>(w.counts[k] - l[k]);
            a += x * x;
            b += y * y;
        }
        return quotient(static_cast<double>(a), n_l) + quotient(static_cast<double>(b), n_r);
    }
    double base(const Whole& w) const { return squares_of(w.counts, w.n, w.n_classes); }
    double near(const Whole& w) const { return base(w) * (1.0 + 0x1p-48); }
    double least(const Whole& w) const {
        return std::nextafter(base(w), std::numeric_limits<double>::infinity());
    }
    double score(const Whole& w, double key) const {
        return (key - base(w)) / static_cast<double>(w.n);
    }
    static double quotient(double squares, std::int64_t n) {
        return n == 0 ? 0.0 : squares / static_cast<double>(n);
    }
};

// The CART measure (ZM 19.7).
struct Cart {
    static double tau(double, std::int64_t) { return 0.0; }
    // sum_k |l_k n_r - r_k n_l| = sum_k |l_k n - n_k n_l|, rounded once beyond 2^53
    double key(const Whole& w, const std::int64_t* l, std::int64_t n_l) const {
        if (w.n < narrow_units) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < w.n_classes; ++k) {
                sum += std::abs(l[k] * w.n - w.counts[k] * n_l);
            }
            return static_cast<double>(sum);
        }
        unsigned __int128 sum = 0;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const __int128 apart =
                static_cast<__int128>(l[k]) * w.n - static_cast<__int128>(w.counts[k]) * n_l;
            sum += static_cast<unsigned __int128>(apart < 0 ? -apart : apart);
        }
        return static_cast<double>(sum);
    }
    double base(const Whole&) const { return 0.0; }
    double near(const Whole&) const { return 0.0; }
    double least(const Whole&) const { return 1.0; }
    double score(const Whole& w, double key) const {
        const auto n = static_cast<double>(w.n);
        return 2.0 * key / n / n;
    }
};

// Whether a side has the shares of the whole: l_k n = n_k n_l for every class, so that every score
// is zero.
inline bool side_alike(const Whole& w, const std::int64_t* l, std::int64_t n_l) {
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        if (static_cast<__int128>(l[k]) * w.n != static_cast<__int128>(w.counts[k]) * n_l) {
            return false;
        }
    }
    return true;
}

// The key of a candidate that may be too close to zero for its rounding; -infinity for zero.
template <class M>
double exact_key(const M& measure, const Whole& w, const std::int64_t* l, std::int64_t n_l) {
    const double key = measure.key(w, l, n_l);
    if (key > measure.near(w)) return key;
    if (side_alike(w, l, n_l)) return -std::numeric_limits<double>::infinity();
    return key > measure.least(w) ? key : measure.least(w);
}

}  // namespace sortal
