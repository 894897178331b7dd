// The best subset of a categorical attribute's values: which V makes the best test "X in V".
//
// The key of gain and Gini is strictly convex in what V holds, so that the optimum never parts
// values of equal shares, and a hyperplane in the space of class shares has V strictly on one side.
// The CART measure is linear but for the signs of K differences. Hence the routes:
//   two classes        prefixes of the order by share (Breiman)                     exact
//   few values         all partitions                                              exact
//   three classes      all partitions by lines, gain and Gini (three_classes.hpp)  exact
//   CART               all sign vectors (cart_signs.hpp)                           exact
//   else               orders by superclasses and the principal direction, flips   heuristic
// Which one depends on numbers of values, classes and units alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "trees/subsets/cart_signs.hpp"
#include "trees/subsets/heuristics.hpp"
#include "trees/subsets/subset_contest.hpp"
#include "trees/subsets/subset_prefixes.hpp"
#include "trees/subsets/three_classes.hpp"

namespace sortal::trees {

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

// How sure a search is: of nothing; of the best key; and that it met every V that has it.
enum class Sure { no, of_key, of_all };

// Groups of values with equal shares. The best V is one side of a hyperplane (Burshtein and others
// 1992).
template <class M>
Sure meet_by_hyperplanes(SubsetContest<M>& contest, Scratch& s) {
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

// Single values, since a V of the same key may part any of those that are free.
template <class M>
Sure meet_by_signs(SubsetContest<M>& contest, Scratch& s) {
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
constexpr bool by_signs = M::subset_route == SubsetRoute::signs;

template <class M>
Sure search(SubsetContest<M>& contest, Scratch& s) {
    if (contest.whole().n_classes < 2) return Sure::of_all;
    if constexpr (by_signs<M>) {
        return meet_by_signs(contest, s);
    } else {
        static_assert(M::subset_route == SubsetRoute::hyperplanes);
        return meet_by_hyperplanes(contest, s);
    }
}

// Whether the full search costs little more than a first look.
template <class M>
bool is_cheap(const SubsetContest<M>& contest) {
    const std::int64_t K = contest.whole().n_classes, m = contest.m();
    if (by_signs<M>) return K <= most_signs;
    return K <= 2 || m <= (K == 3 ? 12 : 8);
}

// A first candidate, so that a floor is known: the best subset itself where that is cheap (then it
// says exact, and need not be searched again), else the best prefix of each class's order by share.
template <class M>
Subset first_subset(const M& measure, const Whole& w, const Values& v, const Limits& limits,
                    Scratch& s) {
    if (v.m < 2) return {};
    SubsetContest<M> contest(measure, w, v, limits, s);
    const bool exact = is_cheap(contest) && search(contest, s) == Sure::of_all && contest.reached();
    if (!exact) {
        contest.speak_of(nullptr);
        meet_classes(contest, s.values, s);
    }
    Subset found = contest.choice(none);
    found.exact = exact;
    found.candidates = exact ? subsets_allowed(v.m, limits.max_subset) : contest.met();
    return found;
}

// Every allowed subset of single values.
template <class M>
void meet_every_subset(SubsetContest<M>& contest, Scratch& s) {
    contest.restart();
    contest.speak_of(nullptr);
    const std::int64_t most = contest.limits().max_subset;
    if (most >= contest.m() / 2) {
        meet_all(contest, s.values, s);
    } else {
        meet_small(contest, s.values, most, s);
    }
}

// Groups move as one only where no limit asks for part of them.
template <class M>
void meet_by_heuristics(SubsetContest<M>& contest, Scratch& s) {
    const bool grouped = contest.free() && !by_signs<M>;
    if (!grouped) contest.speak_of(nullptr);
    meet_heuristics(contest, grouped ? s.groups : s.values, s);
}

// (ZM Alg. 19.3): by a route, else through all subsets while these are few, else by heuristics.
template <class M>
Subset best_subset(const M& measure, const Whole& w, const Values& v, const Limits& limits,
                   double peak, Scratch& s) {
    if (v.m < 2) return {};
    SubsetContest<M> contest(measure, w, v, limits, s);
    const double all = subsets_allowed(v.m, limits.max_subset);
    // where few sets are allowed of many, the best of all is hardly ever among them
    const bool narrow = limits.max_subset < v.m / 2 && all <= most_subsets;
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

}  // namespace sortal::trees
