// CART's measure: the best subset by sign vectors.
//
// With a_kv = n n_kv - n_k n_v the key of V is sum_k |sum_{v in V} a_kv|, and that is the largest
// of sum_{v in V} S_v, S_v = sum_k s_k a_kv, over all signs s. For given signs the best V holds
// every v with S_v > 0; values with S_v = 0 are free. The smallest sets among equals are therefore
// those without free values: {S_v > 0} and {S_v < 0}.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "trees/subsets/subset_contest.hpp"

namespace sortal::trees {

// Up to so many classes all 2^(K - 1) sign vectors are tried.
constexpr std::int64_t most_signs = 12;

// a[k * m + v]
template <class Int>
std::vector<Int> excess(const Whole& w, const Table& t) {
    std::vector<Int> a(static_cast<std::size_t>(t.m * w.n_classes));
    auto at = a.begin();
    for (std::int64_t k = 0; k < w.n_classes; ++k) {
        for (std::int64_t v = 0; v < t.m; ++v) {
            const std::int64_t* row = t.row(v);
            *at++ =
                static_cast<Int>(row[k]) * w.n - static_cast<Int>(w.counts[k]) * row[w.n_classes];
        }
    }
    return a;
}

// Offers {v : sign S_v > 0}; returns how many values it holds.
template <class M, class Int>
std::int64_t meet_side(SubsetContest<M>& contest, const Table& t, const std::vector<Int>& S,
                       Int sign, Scratch& s) {
    const auto holds = [&](std::int64_t v) { return S[static_cast<std::size_t>(v)] * sign > 0; };
    s.side.assign(static_cast<std::size_t>(t.width()), 0);
    for (std::int64_t v = 0; v < t.m; ++v) {
        if (holds(v)) add_row(s.side.data(), t.row(v), t.width());
    }
    const std::int64_t held = s.side[static_cast<std::size_t>(t.n_classes + 2)];
    contest.meet(s.side.data(), holds);
    return held;
}

// All sign vectors (S 26), the first sign fixed, by Gray code. Returns whether a best one left
// values free.
template <class Int, class M>
bool meet_signs(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    const std::int64_t K = t.n_classes;
    const auto m = static_cast<std::size_t>(t.m);
    const std::vector<Int> a = excess<Int>(contest.whole(), t);
    std::vector<Int> S(m, 0);  // of all signs +: every value's sum is zero
    double best = none;
    bool loose = false;
    std::uint64_t minus = 0;
    for (std::uint64_t g = 1; g < std::uint64_t{1} << (K - 1); ++g) {
        const int k = std::countr_zero(g) + 1;
        minus ^= std::uint64_t{1} << k;
        const Int twice = (minus >> k & 1) != 0 ? -2 : 2;
        const Int* row = a.data() + static_cast<std::size_t>(k) * m;
        Int sum = 0;
        for (std::size_t v = 0; v < m; ++v) {
            S[v] += twice * row[v];
            sum += S[v] > 0 ? S[v] : 0;
        }
        const auto key = static_cast<double>(sum);
        if (key < best && contest.free()) continue;
        const std::int64_t held =
            meet_side<M, Int>(contest, t, S, 1, s) + meet_side<M, Int>(contest, t, S, -1, s);
        if (key > best) loose = false;
        if (key >= best) loose = loose || held < t.m;
        best = std::max(best, key);
    }
    return loose;
}

template <class M>
bool meet_signs(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    return contest.whole().n < narrow_units ? meet_signs<std::int64_t>(contest, t, s)
                                            : meet_signs<__int128>(contest, t, s);
}

}  // namespace sortal::trees
