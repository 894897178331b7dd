// The measures by which a tree chooses its tests: all that a criterion needs to know is here.
//
// A test of a tree parts a node's rows in two. Its *key* is the score up to what is the same for
// all tests of the node: score = (key - base) * scale. Larger is better. A key is a pure function
// of whole numbers, with the same bits from a scan as from a table. (S 22)
//
// Class shares of the sides are never formed: their counts l_k and n_k - l_k are enough. Of a cut
// these are the numerators of (ZM 19.14) and (ZM 19.16), of a subset those of (ZM 19.21) and
// (ZM 19.22).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/portable.hpp"
#include "trees/logarithms.hpp"

namespace sortal::trees {

// The key of no test.
constexpr double none = -std::numeric_limits<double>::infinity();

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

// A bin between two cuts: `before` units lie below it, `inside` in it; the keys of the cuts at both
// ends, which are base where nothing lies on one side.
struct Between {
    const std::int64_t* before;
    const std::int64_t* inside;
    std::int64_t n_before;
    std::int64_t n_inside;
    double key_before;
    double key_after;
};

// Below this many units the squares of counts add up within 63 bits.
constexpr std::int64_t narrow_units = std::int64_t{1} << 31;

// f(0) with zero in the type in which sums of products of so many units fit.
template <class F>
SORTAL_INLINE double in_width(std::int64_t n, F f) {
    return n < narrow_units ? f(std::int64_t{0}) : f(static_cast<__int128>(0));
}

// sum_k c_k^2 / n as one division of exact whole numbers.
inline double squares_of(const std::int64_t* c, std::int64_t n, std::int64_t n_classes) {
    if (n == 0) return 0.0;
    return in_width(n, [&](auto sum) {
        using Int = decltype(sum);
        for (std::int64_t k = 0; k < n_classes; ++k) sum += static_cast<Int>(c[k]) * c[k];
        return static_cast<double>(sum) / static_cast<double>(n);
    });
}

// The key of the partition into m parts, counts[p * K + k]: of the gain n times (ZM 19.4), for any
// number of parts (MSML gain), with the sign turned.
template <class M>
double sum_of_parts(const M& measure, const std::int64_t* counts, std::int64_t m,
                    std::int64_t n_classes) {
    double sum = 0.0;
    for (std::int64_t p = 0; p < m; ++p) {
        const std::int64_t* c = counts + p * n_classes;
        sum += measure.part(c, sum_of(c, n_classes), n_classes);
    }
    return sum;
}

// How the best subset is found without looking at all: the key is strictly convex, so that a
// hyperplane parts the values; or it is linear for given signs of K differences.
enum class SubsetRoute { hyperplanes, signs };

// What a measure is (the concept `Measure` below lists it):
//   two_sided      no test may have more than two branches; else the key is a sum over parts, and
//                  `part` is what one of them adds
//   uses_logs      a table of logarithms is made for it
//   subset_route   how its best subset is found
//   tau            keys within tau of the largest count as equal
//   key            of the side that holds the units l, n_l of them
//   near, least    keys at most `near` may be rounding alone: there `side_alike` decides, and what
//                  is not zero counts as `least`
//   linear_bound   at least the key of every cut within a bin but for rounding, which `bound_slack`
//                  makes good; or any number below `need` where that is
//   subset_bound   at least the key of every subset of m values (S 25), rounding included
//   known_stretch  two sides only: what brings keys of the known rows to the scale of their node
//   Moving         optional: the key while rows of one unit move to the yes side one by one

// Information gain (ZM 19.5), in units of logarithms. A part adds the negative of its size times
// its entropy (ZM 19.3) (MSML entropy).
struct Gain {
    static constexpr bool two_sided = false, uses_logs = true;
    static constexpr SubsetRoute subset_route = SubsetRoute::hyperplanes;
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
    // The key is a sum over classes of convex functions of that class's units, below their chords
    // over the bin, and a concave function of the rows, below its tangent in the middle of the bin.
    // With both it is at most linear in the units, and largest where each class is wholly on its
    // better side.
    double linear_bound(const Whole& w, const Between& b, double) const {
        const auto size_term = [&](std::int64_t t) {
            return static_cast<double>(-(*logs)(b.n_before + t) - (*logs)(w.n - b.n_before - t));
        };
        const std::int64_t middle = b.n_inside / 2;
        const double ratio = static_cast<double>(w.n - b.n_before - middle) /
                             static_cast<double>(b.n_before + middle);
        const double slope = std::ldexp(std::log2(ratio), logs->shift());
        double bound =
            b.key_before - size_term(0) + size_term(middle) - slope * static_cast<double>(middle);
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const std::int64_t l = b.before[k], h = b.inside[k], r = w.counts[k] - l;
            if (h == 0) continue;
            const double chord =
                static_cast<double>((*logs)(l + h) + (*logs)(r - h) - (*logs)(l) - (*logs)(r));
            bound += std::max(0.0, chord + slope * static_cast<double>(h));
        }
        return bound;
    }
    double bound_slack(const Whole& w) const { return static_cast<double>(16 * (w.n_classes + 2)); }
    // No V has a larger key than the partition into single values.
    double subset_bound(const Whole& w, const std::int64_t* counts, std::int64_t m) const {
        const double sum = sum_of_parts(*this, counts, m, w.n_classes);
        return sum + static_cast<double>(2 * (m + 2) * (w.n_classes + 1)) +
               2.0 * tau(sum, w.n_classes);
    }

    // Four logarithms change with a row.
    class Moving {
      public:
        Moving(const Gain& gain, const Whole& w, const std::int64_t* yes)
            : logs_(*gain.logs), counts_(w.counts), n_(w.n) {
            for (std::int64_t k = 0; k < w.n_classes; ++k) {
                units_ += logs_(yes[k]) + logs_(w.counts[k] - yes[k]);
            }
        }
        // A row of class k, of which there were `yes` so far.
        void move(std::int64_t k, std::int64_t yes) {
            const std::int64_t no = counts_[k] - yes;
            units_ += logs_(yes + 1) - logs_(yes) + logs_(no - 1) - logs_(no);
        }
        double key(std::int64_t n_yes) const {
            return static_cast<double>(units_ - logs_(n_yes) - logs_(n_ - n_yes));
        }

      private:
        const Logs& logs_;
        const std::int64_t* counts_;
        std::int64_t n_, units_ = 0;
    };
};

// The decrease of the Gini index (ZM 19.6) (MSML gini).
struct Gini {
    static constexpr bool two_sided = false, uses_logs = false;
    static constexpr SubsetRoute subset_route = SubsetRoute::hyperplanes;

    static double tau(double key, std::int64_t) {
        return 4.0 * (std::nextafter(key, std::numeric_limits<double>::infinity()) - key);
    }
    double part(const std::int64_t* c, std::int64_t n, std::int64_t n_classes) const {
        return squares_of(c, n, n_classes);
    }
    double key(const Whole& w, const std::int64_t* l, std::int64_t n_l) const {
        return in_width(w.n, [&](auto a) {
            using Int = decltype(a);
            Int b = 0;
            for (std::int64_t k = 0; k < w.n_classes; ++k) {
                const Int x = l[k], y = w.counts[k] - l[k];
                a += x * x;
                b += y * y;
            }
            return quotient(static_cast<double>(a), n_l) +
                   quotient(static_cast<double>(b), w.n - n_l);
        });
    }
    double base(const Whole& w) const { return squares_of(w.counts, w.n, w.n_classes); }
    double near(const Whole& w) const { return base(w) * (1.0 + 0x1p-48); }
    double least(const Whole& w) const {
        return std::nextafter(base(w), std::numeric_limits<double>::infinity());
    }
    double score(const Whole& w, double key) const {
        return (key - base(w)) / static_cast<double>(w.n);
    }
    // No key changes by more than 2 a unit, hence the quick bound.
    double linear_bound(const Whole& w, const Between& b, double need) const {
        const auto inside = static_cast<double>(b.n_inside);
        const double quick = 0.5 * (b.key_before + b.key_after) + inside;
        if (quick < need) return quick;
        return std::min({quick, b.key_before + largest_rise(w, b, true),
                         b.key_after + largest_rise(w, b, false)});
    }
    double bound_slack(const Whole& w) const {
        return static_cast<double>(w.n) * static_cast<double>(w.n_classes + 64) * 0x1p-50;
    }
    // No V has a larger key than the partition into single values.
    double subset_bound(const Whole& w, const std::int64_t* counts, std::int64_t m) const {
        const double sum = sum_of_parts(*this, counts, m, w.n_classes);
        return sum * (1.0 + static_cast<double>(m + 32) * 0x1p-52);
    }
    static double quotient(double squares, std::int64_t n) {
        return n == 0 ? 0.0 : squares / static_cast<double>(n);
    }

    // Let a side with shares q and n_q units give t units with shares s to a side with shares p and
    // n_p units. The key then changes by t (u |q - s|^2 - v |p - s|^2), u = n_q / (n_q - t) and
    // v = n_p / (n_p + t), which is t (u g.s + (u - v) |p - s|^2) with
    // g_k = |q|^2 - |p|^2 - 2 (q_k - p_k). As t |p - s|^2 is at most the sum of
    // t s_k (1 - 2 p_k + |p|^2), the change is at most linear in the units of each class. It is
    // looked at from both ends of the bin.
    static double largest_rise(const Whole& w, const Between& b, bool upwards) {
        const auto inside = static_cast<double>(b.n_inside), n = static_cast<double>(w.n);
        const double n_yes = static_cast<double>(b.n_before) + (upwards ? 0.0 : inside);
        const double n_p = upwards ? n_yes : n - n_yes, n_q = n - n_p;
        if (n_q <= inside) return std::numeric_limits<double>::infinity();
        const auto shares = [&](std::int64_t k) {
            const auto yes = static_cast<double>(b.before[k] + (upwards ? 0 : b.inside[k]));
            const double no = static_cast<double>(w.counts[k]) - yes;
            const double to = upwards ? yes : no, from = upwards ? no : yes;
            return std::pair{n_p > 0 ? to / n_p : 0.0, from / n_q};
        };
        double square_p = 0.0, square_q = 0.0;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const auto [p, q] = shares(k);
            square_p += p * p;
            square_q += q * q;
        }
        const double u = n_q / (n_q - inside), v = n_p / (n_p + inside);
        double rise = 0.0;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            if (b.inside[k] == 0) continue;
            const auto [p, q] = shares(k);
            const double g = square_q - square_p - 2.0 * (q - p);
            const double slope = n_p > 0
                                     ? (g > 0 ? u * g : g) + (u - v) * (1.0 - 2.0 * p + square_p)
                                     : u * (1.0 - 2.0 * q + square_q);
            rise += static_cast<double>(b.inside[k]) * std::max(0.0, slope);
        }
        return rise;
    }

    // As sum (n_k - l_k)^2 = sum n_k^2 - 2 sum n_k l_k + sum l_k^2, one count moves with a row.
    class Moving {
      public:
        Moving(const Gini&, const Whole& w, const std::int64_t* yes) : counts_(w.counts), n_(w.n) {
            for (std::int64_t k = 0; k < w.n_classes; ++k) {
                whole_ += w.counts[k] * w.counts[k];
                squares_ += yes[k] * yes[k];
                cross_ += w.counts[k] * yes[k];
            }
        }
        // A row of class k, of which there were `yes` so far.
        void move(std::int64_t k, std::int64_t yes) {
            squares_ += 2 * yes + 1;
            cross_ += counts_[k];
        }
        double key(std::int64_t n_yes) const {
            return static_cast<double>(squares_) / static_cast<double>(n_yes) +
                   static_cast<double>(whole_ + squares_ - 2 * cross_) /
                       static_cast<double>(n_ - n_yes);
        }

      private:
        const std::int64_t* counts_;
        std::int64_t n_, whole_ = 0, squares_ = 0, cross_ = 0;
    };
};

// The CART measure (ZM 19.7).
struct Cart {
    static constexpr bool two_sided = true, uses_logs = false;
    static constexpr SubsetRoute subset_route = SubsetRoute::signs;

    static double tau(double, std::int64_t) { return 0.0; }
    // sum_k |l_k n_r - r_k n_l| = sum_k |l_k n - n_k n_l|, rounded once beyond 2^53
    double key(const Whole& w, const std::int64_t* l, std::int64_t n_l) const {
        return in_width(w.n, [&](auto sum) {
            using Int = decltype(sum);
            for (std::int64_t k = 0; k < w.n_classes; ++k) {
                const Int apart =
                    static_cast<Int>(l[k]) * w.n - static_cast<Int>(w.counts[k]) * n_l;
                sum += apart < 0 ? -apart : apart;
            }
            return static_cast<double>(sum);
        });
    }
    double base(const Whole&) const { return 0.0; }
    double near(const Whole&) const { return 0.0; }
    double least(const Whole&) const { return 1.0; }
    double score(const Whole& w, double key) const {
        const auto n = static_cast<double>(w.n);
        return 2.0 * key / n / n;
    }
    // The sum over classes of |u|, u = l n - n_k n_l, is linear in the units as long as no u
    // changes its sign; a class whose u may change it adds at most twice what lies on the other
    // side.
    double linear_bound(const Whole& w, const Between& b, double) const {
        const auto n = static_cast<double>(w.n), inside = static_cast<double>(b.n_inside);
        double signed_total = 0.0, beyond = 0.0;
        const auto u_of = [&](std::int64_t k) {
            return static_cast<double>(b.before[k]) * n -
                   static_cast<double>(w.counts[k]) * static_cast<double>(b.n_before);
        };
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const auto n_k = static_cast<double>(w.counts[k]), h = static_cast<double>(b.inside[k]);
            const double u = u_of(k);
            signed_total += u < 0 ? -n_k : n_k;
            const double nearest = u < 0 ? -u - (n - n_k) * h : u - n_k * (inside - h);
            beyond += 2.0 * std::max(0.0, -nearest);
        }
        double rise = 0.0;
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const double sign = u_of(k) < 0 ? -1.0 : 1.0;
            rise += static_cast<double>(b.inside[k]) * std::max(0.0, sign * n - signed_total);
        }
        return b.key_before + rise + beyond;
    }
    double bound_slack(const Whole& w) const {
        const auto n = static_cast<double>(w.n);
        return n * n * static_cast<double>(w.n_classes + 64) * 0x1p-50;
    }
    // No V has a larger measure than all classes at their own best.
    double subset_bound(const Whole& w, const std::int64_t* counts, std::int64_t m) const {
        unsigned __int128 sum = 0;
        for (std::int64_t i = 0; i < m; ++i) {
            const std::int64_t* c = counts + i * w.n_classes;
            const std::int64_t n = sum_of(c, w.n_classes);
            for (std::int64_t k = 0; k < w.n_classes; ++k) {
                const __int128 a =
                    static_cast<__int128>(c[k]) * w.n - static_cast<__int128>(w.counts[k]) * n;
                if (a > 0) sum += static_cast<unsigned __int128>(a);
            }
        }
        return std::nextafter(static_cast<double>(sum), -none);
    }
    // Twice the key over n^2 is the score: that of the known rows is over known^2.
    static double known_stretch(std::int64_t n, std::int64_t known) {
        return known > 0 ? static_cast<double>(n) / static_cast<double>(known) : 1.0;
    }
};

template <class M>
concept Measure =
    requires(const M measure, const Whole& w, const std::int64_t* l, std::int64_t n, double key,
             const Between& bin) {
        { M::two_sided && M::uses_logs } -> std::same_as<bool>;
        { M::subset_route == SubsetRoute::signs } -> std::same_as<bool>;
        { M::tau(key, n) } -> std::same_as<double>;
        { measure.key(w, l, n) } -> std::same_as<double>;
        { measure.base(w) } -> std::same_as<double>;
        { measure.near(w) } -> std::same_as<double>;
        { measure.least(w) } -> std::same_as<double>;
        { measure.score(w, key) } -> std::same_as<double>;
        { measure.linear_bound(w, bin, key) } -> std::same_as<double>;
        { measure.bound_slack(w) } -> std::same_as<double>;
        { measure.subset_bound(w, l, n) } -> std::same_as<double>;
    } &&
    (!M::two_sided || requires(std::int64_t n) { M::known_stretch(n, n); }) &&
    (M::two_sided ||
     requires(const M measure, const std::int64_t* c, std::int64_t n) { measure.part(c, n, n); });
static_assert(Measure<Gain> && Measure<Gini> && Measure<Cart>);

// The criteria by number, and their names. The gain ratio has the measure of the gain: it chooses
// otherwise among the attributes.
enum class Criterion { gain, gain_ratio, gini, cart };
constexpr std::array<std::string_view, 4> criterion_names{"gain", "gain_ratio", "gini", "cart"};

// Calls f with the measure of a criterion.
template <class F>
auto with_measure(Criterion criterion, const Logs& logs, F&& f) {
    switch (criterion) {
        case Criterion::gain:
        case Criterion::gain_ratio: return f(Gain{&logs});
        case Criterion::gini: return f(Gini{});
        case Criterion::cart: return f(Cart{});
    }
    std::abort();  // no criterion: the bindings let none in
}

constexpr bool by_ratio(Criterion criterion) { return criterion == Criterion::gain_ratio; }
inline bool is_two_sided(Criterion criterion) {
    return with_measure(criterion, Logs(0, 0), []<class M>(const M&) { return M::two_sided; });
}
inline bool uses_logs(Criterion criterion) {
    return with_measure(criterion, Logs(0, 0), []<class M>(const M&) { return M::uses_logs; });
}

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

// The key of a candidate that may be too close to zero for its rounding; none for zero.
template <class M>
double exact_key(const M& measure, const Whole& w, const std::int64_t* l, std::int64_t n_l) {
    const double key = measure.key(w, l, n_l);
    if (key > measure.near(w)) return key;
    if (side_alike(w, l, n_l)) return none;
    return key > measure.least(w) ? key : measure.least(w);
}

}  // namespace sortal::trees
