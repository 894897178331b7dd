// Where no route is certain: orders that come close, and single flips from the best of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trees/subsets/subset_contest.hpp"
#include "trees/subsets/subset_prefixes.hpp"

namespace sortal::trees {

// Up to so many classes every superclass gives an order; beyond, every single class.
constexpr std::int64_t most_superclasses = 6;

// The prefixes of the order by part(row) / units.
template <class M, class Part>
void meet_by_part(SubsetContest<M>& contest, const Table& t, Part part, Scratch& s) {
    const std::int64_t K = t.n_classes;
    sort_places(t, contest.whole().n, s, part, [&](const std::int64_t* a, const std::int64_t* b) {
        const auto x = static_cast<__int128>(part(a)) * b[K];
        const auto y = static_cast<__int128>(part(b)) * a[K];
        return x == y ? 0 : x < y ? -1 : 1;
    });
    meet_prefixes(contest, t, s);
}

// One class against the others; of two classes one order is the other turned round.
template <class M>
void meet_classes(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    const std::int64_t n_orders = t.n_classes == 2 ? 1 : t.n_classes;
    for (std::int64_t k = 0; k < n_orders; ++k) {
        meet_by_part(contest, t, [k](const std::int64_t* row) { return row[k]; }, s);
    }
}

template <class M>
void meet_superclasses(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    if (t.n_classes > most_superclasses) {
        meet_classes(contest, t, s);
        return;
    }
    const std::int64_t K = t.n_classes;
    for (std::uint64_t mask = 1; mask < std::uint64_t{1} << (K - 1); ++mask) {
        const auto part = [K, mask](const std::int64_t* row) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < K; ++k) sum += (mask >> k & 1) != 0 ? row[k] : 0;
            return sum;
        };
        meet_by_part(contest, t, part, s);
    }
}

// The direction in which the shares of the rows vary most, rows by their units: a fixed number of
// steps of the power method from the class that varies most.
inline std::vector<double> principal_direction(const Table& t, const Whole& w) {
    const auto K = static_cast<std::size_t>(w.n_classes);
    std::vector<double> scatter(K * K, 0.0), apart(K), u(K, 0.0), next(K);
    for (std::int64_t i = 0; i < t.m; ++i) {
        const std::int64_t* row = t.row(i);
        const auto units = static_cast<double>(row[K]);
        for (std::size_t k = 0; k < K; ++k) {
            apart[k] = static_cast<double>(row[k]) / units -
                       static_cast<double>(w.counts[k]) / static_cast<double>(w.n);
        }
        for (std::size_t a = 0; a < K; ++a) {
            for (std::size_t b = 0; b < K; ++b) scatter[a * K + b] += units * apart[a] * apart[b];
        }
    }
    std::size_t most = 0;
    for (std::size_t k = 1; k < K; ++k) {
        if (scatter[k * K + k] > scatter[most * K + most]) most = k;
    }
    u[most] = 1.0;
    constexpr int n_steps = 32;
    for (int step = 0; step < n_steps; ++step) {
        double largest = 0.0;
        for (std::size_t a = 0; a < K; ++a) {
            next[a] = 0.0;
            for (std::size_t b = 0; b < K; ++b) next[a] += scatter[a * K + b] * u[b];
            largest = std::max(largest, next[a] < 0.0 ? -next[a] : next[a]);
        }
        if (!(largest > 0.0)) break;
        for (std::size_t a = 0; a < K; ++a) u[a] = next[a] / largest;
    }
    return u;
}

template <class M>
void meet_principal(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    const std::vector<double> u = principal_direction(t, contest.whole());
    s.ranked.clear();
    for (std::int64_t i = 0; i < t.m; ++i) {
        const std::int64_t* row = t.row(i);
        double sum = 0.0;
        for (std::size_t k = 0; k < u.size(); ++k) sum += u[k] * static_cast<double>(row[k]);
        s.ranked.push_back(
            {sum / static_cast<double>(row[u.size()]), static_cast<std::int32_t>(i)});
    }
    std::sort(s.ranked.begin(), s.ranked.end(), [](const Ranked& a, const Ranked& b) {
        return a.share != b.share ? a.share < b.share : a.place < b.place;
    });
    s.order.clear();
    for (const Ranked& r : s.ranked) s.order.push_back(r.place);
    meet_prefixes(contest, t, s);
}

template <class M>
void meet_singles(SubsetContest<M>& contest, const Table& t) {
    for (std::int64_t i = 0; i < t.m; ++i) {
        contest.meet(t.row(i), [i](std::int64_t v) { return v == i; });
    }
}

// Row i changes sides.
inline void flip(const Table& t, std::int64_t i, Scratch& s) {
    char& inside = s.inside[static_cast<std::size_t>(i)];
    inside ? take_row(s.side.data(), t.row(i), t.width())
           : add_row(s.side.data(), t.row(i), t.width());
    inside = !inside;
}

// Moves single rows from side to side, each time the one that gains most, until none gains.
template <class M>
void climb(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    const auto* leader = contest.leader();
    if (!leader) return;
    contest.read_sides(*leader, t.m, s.inside);
    const std::int64_t width = t.width();
    s.side.assign(static_cast<std::size_t>(width), 0);
    for (std::int64_t i = 0; i < t.m; ++i) {
        if (s.inside[static_cast<std::size_t>(i)]) add_row(s.side.data(), t.row(i), width);
    }
    double best = contest.key(s.side.data());
    for (std::int64_t round = 0; round < t.m; ++round) {
        std::int64_t gains_most = -1;
        for (std::int64_t i = 0; i < t.m; ++i) {
            flip(t, i, s);
            const double key = contest.meet(s.side.data(), [&](std::int64_t v) {
                return s.inside[static_cast<std::size_t>(v)] != 0;
            });
            if (key > best && contest.allowed(s.side.data())) {
                best = key;
                gains_most = i;
            }
            flip(t, i, s);
        }
        if (gains_most < 0) return;
        flip(t, gains_most, s);
    }
}

// All of it: orders, single rows where |V| is bound, flips.
template <class M>
void meet_heuristics(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    meet_superclasses(contest, t, s);
    meet_principal(contest, t, s);
    if (!contest.free()) meet_singles(contest, t);
    climb(contest, t, s);
}

}  // namespace sortal::trees
