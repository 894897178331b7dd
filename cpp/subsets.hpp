// The best subset of a categorical attribute's values: which V makes the best test "X in V".
//
// The key of gain and Gini is strictly convex in what V holds, so that the optimum never parts values
// of equal shares, and a hyperplane in the space of class shares has V strictly on one side. The
// CART measure is linear but for the signs of K differences. Hence the routes:
//   two classes        prefixes of the order by share (Breiman)                     exact
//   few values         all partitions                                              exact
//   three classes      all partitions by lines, gain and Gini (lines.hpp)          exact
//   CART               all sign vectors (signs.hpp)                                exact
//   else               orders by superclasses and the principal direction, flips   heuristic
// Which one depends on numbers of values, classes and units alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "contest.hpp"
#include "heuristics.hpp"
#include "lines.hpp"
#include "orders.hpp"
#include "signs.hpp"

namespace sortal {

// Up to so many subsets all are tried rather than to leave the node without a certain answer.
constexpr double most_subsets = 16384.0;
// From so many groups on, lines are fewer than subsets.
constexpr std::int64_t least_points = 6;

// How many V there are of m values (ZM 19.17), |V| at most `most`; infinity beyond the doubles.
inline double subsets_allowed(std::int64_t m, std::int64_t most) {
    if (m < 2) return 0.0;
    if (most >= m / 2) {
        return m > 1024 ? -none : std::ldexp(1.0, static_cast<int>(m - 1)) - 1.0;
    }
    double sum = 0.0, ways = 1.0;
    for (std::int64_t i = 1; i <= most; ++i) {
        ways = ways * static_cast<double>(m - i + 1) / static_cast<double>(i);
        sum += ways;
    }
    return sum;
}

// No V has a larger key than the partition into single values, and none a larger CART measure than
// all classes at their own best (S 25). What rounding may add is added.
inline double bound_with_slack(const Gain&, double sum, std::int64_t m, std::int64_t n_classes) {
    return sum + static_cast<double>(2 * (m + 2) * (n_classes + 1)) + 2.0 * Gain::tau(sum, n_classes);
}
inline double bound_with_slack(const Gini&, double sum, std::int64_t m, std::int64_t) {
    return sum * (1.0 + static_cast<double>(m + 32) * 0x1p-52);
}

template <class M>
double subset_bound(const M& measure, const Whole& w, const Values& v) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < v.m; ++i) {
        const std::int64_t* c = v.counts + i * w.n_classes;
        sum += measure.part(c, sum_of(c, w.n_classes), w.n_classes);
    }
    return bound_with_slack(measure, sum, v.m, w.n_classes);
}

inline double subset_bound(const Cart&, const Whole& w, const Values& v) {
    unsigned __int128 sum = 0;
    for (std::int64_t i = 0; i < v.m; ++i) {
        const std::int64_t* c = v.counts + i * w.n_classes;
        const std::int64_t n = sum_of(c, w.n_classes);
        for (std::int64_t k = 0; k < w.n_classes; ++k) {
            const __int128 a =
                static_cast<__int128>(c[k]) * w.n - static_cast<__int128>(w.counts[k]) * n;
            if (a > 0) sum += static_cast<unsigned __int128>(a);
        }
    }
    return std::nextafter(static_cast<double>(sum), -none);
}

// How sure a search is: of nothing; of the best key; and that it met every V that has it.
enum class Sure { no, of_key, of_all };

// Gain and Gini: groups of values with equal shares. The best V is one side of a hyperplane
// (Burshtein and others 1992).
template <class M>
Sure meet_by_route(Contest<M>& contest, Scratch& s) {
    const std::int64_t K = contest.whole().n_classes, n = contest.whole().n;
    n < narrow_units ? merge_alike<std::int64_t>(n, s) : merge_alike<__int128>(n, s);
    contest.speak_of(s.group_of.data());
    const Table& t = s.groups;
    if (K == 2) {
        meet_in_order(contest, t, s);
    } else if (K == 3 && t.m >= least_points && t.m <= most_points) {
        meet_lines(contest, t, s);
    } else if (subsets_allowed(t.m, t.m) <= most_subsets) {
        meet_all(contest, t, s);
    } else {
        return Sure::no;
    }
    return Sure::of_all;
}

// CART: single values, since a V of the same key may part any of those that are free.
inline Sure meet_by_route(Contest<Cart>& contest, Scratch& s) {
    const Table& t = s.values;
    if (t.m <= t.n_classes) {
        if (subsets_allowed(t.m, t.m) > most_subsets) return Sure::no;
        meet_all(contest, t, s);
        return Sure::of_all;
    }
    if (t.n_classes > most_signs) return Sure::no;
    return meet_signs(contest, t, s) && !contest.free() ? Sure::of_key : Sure::of_all;
}

template <class M>
Sure search(Contest<M>& contest, Scratch& s) {
    return contest.whole().n_classes < 2 ? Sure::of_all : meet_by_route(contest, s);
}

// Whether the full search costs little more than a first look.
template <class M>
bool is_cheap(const Contest<M>& contest) {
    const std::int64_t K = contest.whole().n_classes, m = contest.m();
    if (std::is_same_v<M, Cart>) return K <= most_signs;
    return K <= 2 || m <= (K == 3 ? 12 : 8);
}

// A first candidate, so that a floor is known: the best subset itself where that is cheap (then it
// says exact, and need not be searched again), else the best prefix of each class's order by share.
template <class M>
Subset first_subset(const M& measure, const Whole& w, const Values& v, const Limits& limits,
                    Scratch& s) {
    if (v.m < 2) return {};
    Contest<M> contest(measure, w, v, limits, s);
    const bool exact = is_cheap(contest) && search(contest, s) == Sure::of_all && contest.reached();
    if (!exact) {
        contest.speak_of(nullptr);
        meet_classes(contest, s.values, s);
    }
    Subset found = contest.choice(none);
    found.exact = exact;
    found.candidates = exact ? subsets_allowed(v.m, limits.subset) : contest.met();
    return found;
}

// Every allowed subset of single values.
template <class M>
void meet_every_subset(Contest<M>& contest, Scratch& s) {
    contest.restart();
    contest.speak_of(nullptr);
    const std::int64_t most = contest.limits().subset;
    if (most >= contest.m() / 2) {
        meet_all(contest, s.values, s);
    } else {
        meet_small(contest, s.values, most, s);
    }
}

// Groups move as one only where no limit asks for part of them.
template <class M>
void meet_by_heuristics(Contest<M>& contest, Scratch& s) {
    const bool grouped = contest.free() && !std::is_same_v<M, Cart>;
    if (!grouped) contest.speak_of(nullptr);
    meet_heuristics(contest, grouped ? s.groups : s.values, s);
}

// (ZM Alg. 19.3): by a route, else through all subsets while these are few, else by heuristics.
template <class M>
Subset best_subset(const M& measure, const Whole& w, const Values& v, const Limits& limits,
                   double peak, Scratch& s) {
    if (v.m < 2) return {};
    Contest<M> contest(measure, w, v, limits, s);
    const double all = subsets_allowed(v.m, limits.subset);
    // where few sets are allowed of many, the best of all is hardly ever among them
    const bool narrow = limits.subset < v.m / 2 && all <= most_subsets;
    const Sure sure = narrow ? Sure::no : search(contest, s);
    bool exact = sure != Sure::no && contest.reached();
    if ((!exact || sure != Sure::of_all) && all <= most_subsets) {
        meet_every_subset(contest, s);
        exact = true;
    }
    if (!exact) meet_by_heuristics(contest, s);
    Subset found = contest.choice(peak);
    found.exact = exact;
    found.candidates = exact ? all : contest.met();
    return found;
}

}  // namespace sortal
