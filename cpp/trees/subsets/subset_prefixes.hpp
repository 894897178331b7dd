// Candidates that need no geometry: all subsets, all small subsets, all prefixes of an order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "trees/subsets/subset_contest.hpp"

namespace sortal::trees {

// Compares class shares, first class first: a_k / n_a with b_k / n_b. The last share follows.
template <class Int>
int compare_shares(const std::int64_t* a, const std::int64_t* b, std::int64_t n_classes) {
    for (std::int64_t k = 0; k + 1 < n_classes; ++k) {
        const Int x = static_cast<Int>(a[k]) * b[n_classes];
        const Int y = static_cast<Int>(b[k]) * a[n_classes];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

// Below this many units a quotient of whole numbers, rounded, never turns two of them round.
constexpr std::int64_t double_units = std::int64_t{1} << 53;

// Writes the places of the rows into `s.order`, by ascending part(row) / units and what `compare`
// says of equal ones; then by place.
template <class Part, class Compare>
void sort_places(const Table& t, std::int64_t n, Scratch& s, Part part, Compare compare) {
    s.ranked.resize(static_cast<std::size_t>(t.m));
    for (std::int64_t i = 0; i < t.m; ++i) {
        const std::int64_t* row = t.row(i);
        const auto units = static_cast<double>(row[t.n_classes]);
        const double share = n < double_units ? static_cast<double>(part(row)) / units : 0.0;
        s.ranked[static_cast<std::size_t>(i)] = {share, static_cast<std::int32_t>(i)};
    }
    std::sort(s.ranked.begin(), s.ranked.end(), [&](const Ranked& a, const Ranked& b) {
        if (a.share != b.share) return a.share < b.share;
        const int c = compare(t.row(a.place), t.row(b.place));
        return c != 0 ? c < 0 : a.place < b.place;
    });
    s.order.clear();
    for (const Ranked& r : s.ranked) s.order.push_back(r.place);
}

// Merges values of equal shares. Groups are numbered by ascending shares of the first class, then
// of the second, and so on.
template <class Int>
void merge_alike(std::int64_t n, Scratch& s) {
    const Table& t = s.values;
    const std::int64_t K = t.n_classes;
    const auto compare = [K](const std::int64_t* a, const std::int64_t* b) {
        return compare_shares<Int>(a, b, K);
    };
    sort_places(t, n, s, [](const std::int64_t* row) { return row[0]; }, compare);
    s.group_of.resize(static_cast<std::size_t>(t.m));
    s.groups.reset(t.m, K);
    std::int64_t last = -1;
    const std::int64_t* before = nullptr;
    for (const std::int32_t i : s.order) {
        const std::int64_t* row = t.row(i);
        if (!before || compare(before, row) != 0) ++last;
        add_row(s.groups.row(last), row, t.width());
        s.group_of[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(last);
        before = row;
    }
    s.groups.m = last + 1;
}

// All 2^(m - 1) - 1 ways to part the rows of a table in two, by Gray code: one row moves at a time.
template <class M>
void meet_all(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    s.side.assign(static_cast<std::size_t>(t.width()), 0);
    std::uint64_t mask = 0;
    for (std::uint64_t g = 1; g < std::uint64_t{1} << (t.m - 1); ++g) {
        const int moved = std::countr_zero(g);
        mask ^= std::uint64_t{1} << moved;
        if (mask >> moved & 1) {
            add_row(s.side.data(), t.row(moved), t.width());
        } else {
            take_row(s.side.data(), t.row(moved), t.width());
        }
        contest.meet(s.side.data(), [mask](std::int64_t i) { return (mask >> i & 1) != 0; });
    }
}

// All V of at most `most` rows, in lexicographic order of each size; 2 most < m, so that none is
// met twice. `s.prefixes` holds the sums of the first rows of V.
template <class M>
void meet_small(SubsetContest<M>& contest, const Table& t, std::int64_t most, Scratch& s) {
    for (std::int64_t size = 1; size <= most; ++size) {
        s.prefixes.reset(size + 1, t.n_classes);
        s.order.assign(static_cast<std::size_t>(size), -1);
        const auto holds = [&s](std::int64_t i) {
            return std::find(s.order.begin(), s.order.end(), i) != s.order.end();
        };
        for (std::int64_t depth = 0; depth >= 0;) {
            std::int32_t& place = s.order[static_cast<std::size_t>(depth)];
            if (++place > t.m - size + depth) {
                --depth;
                continue;
            }
            std::int64_t* sum = s.prefixes.row(depth + 1);
            std::copy_n(s.prefixes.row(depth), t.width(), sum);
            add_row(sum, t.row(place), t.width());
            if (depth + 1 < size) {
                s.order[static_cast<std::size_t>(++depth)] = place;
            } else {
                contest.meet(sum, holds);
            }
        }
    }
}

// The m - 1 prefixes of the rows in an order: row place(p) comes p-th, and `in_prefix(i, p)` says
// whether row i comes by then.
template <class M, class Place, class In>
void meet_series(SubsetContest<M>& contest, const Table& t, Place place, In in_prefix, Scratch& s) {
    s.keys.clear();
    s.side.assign(static_cast<std::size_t>(t.width()), 0);
    double best = none;
    for (std::int64_t p = 0; p + 1 < t.m; ++p) {
        add_row(s.side.data(), t.row(place(p)), t.width());
        const double key = contest.note(s.side.data());
        s.keys.push_back(key);
        if (key > best && contest.allowed(s.side.data())) best = key;
    }
    contest.expect(best);
    s.side.assign(static_cast<std::size_t>(t.width()), 0);
    for (std::int64_t p = 0; p + 1 < t.m; ++p) {
        add_row(s.side.data(), t.row(place(p)), t.width());
        const double key = s.keys[static_cast<std::size_t>(p)];
        if (!contest.may_lead(key)) continue;
        contest.meet_again(key, s.side.data(), [&, p](std::int64_t i) { return in_prefix(i, p); });
    }
}

// The prefixes of the rows as they stand.
template <class M>
void meet_in_order(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    meet_series(
        contest, t, [](std::int64_t p) { return p; },
        [](std::int64_t i, std::int64_t p) { return i <= p; }, s);
}

// The prefixes of the rows in `s.order`.
template <class M>
void meet_prefixes(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    s.rank.resize(static_cast<std::size_t>(t.m));
    for (std::int64_t p = 0; p < t.m; ++p) {
        const auto i = static_cast<std::size_t>(s.order[static_cast<std::size_t>(p)]);
        s.rank[i] = static_cast<std::int32_t>(p);
    }
    const auto place = [&s](std::int64_t p) { return s.order[static_cast<std::size_t>(p)]; };
    const auto in_prefix = [&s](std::int64_t i, std::int64_t p) {
        return s.rank[static_cast<std::size_t>(i)] <= p;
    };
    meet_series(contest, t, place, in_prefix, s);
}

}  // namespace sortal::trees
