// Three classes: all ways to part points of the plane in two by a line.
//
// A group is a point, the shares of the first two classes. Looked at from a direction, the points
// stand in an order whose prefixes are what lines across that direction part. As the direction
// turns by half a circle, the order changes only where it passes the normal of a line through two
// points; these two then stand side by side and change places, so that one prefix is new. Pairs
// sorted by slope, those of equal slope by place, are the whole story (points on one line turn
// round pair by pair): m (m - 1) / 2 new prefixes after the first m - 1.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "trees/subsets/subset_contest.hpp"
#include "trees/subsets/subset_prefixes.hpp"

namespace sortal::trees {

// An event is one number: 44 bits of slope, then the places i < j of the pair, 10 bits each.
constexpr int place_bits = 10;
constexpr std::int64_t most_points = std::int64_t{1} << place_bits;
constexpr int slope_bits = 64 - 2 * place_bits;

inline std::int64_t first_of(std::uint64_t event) {
    return static_cast<std::int64_t>(event >> place_bits & (most_points - 1));
}
inline std::int64_t second_of(std::uint64_t event) {
    return static_cast<std::int64_t>(event & (most_points - 1));
}

// The products of two numbers of 128 bits, high half first.
struct Product {
    unsigned __int128 high, low;
    auto operator<=>(const Product&) const = default;
};
inline Product product(unsigned __int128 a, unsigned __int128 b) {
    constexpr unsigned __int128 half = ~std::uint64_t{0};
    const unsigned __int128 low = (a & half) * (b & half), x = (a >> 64) * (b & half);
    const unsigned __int128 y = (a & half) * (b >> 64), z = (a >> 64) * (b >> 64);
    const unsigned __int128 middle = (low >> 64) + (x & half) + (y & half);
    return {z + (x >> 64) + (y >> 64) + (middle >> 64), middle << 64 | (low & half)};
}

// The way from one point to another, times the units of both; x > 0, or x = 0 and y > 0.
template <class Int>
struct Way {
    Int x, y;
};
template <class Int>
Way<Int> way(const std::int64_t* a, const std::int64_t* b) {
    const Int n_a = a[3], n_b = b[3];
    return {b[0] * n_a - a[0] * n_b, b[1] * n_a - a[1] * n_b};
}

// Whether slopes ascend: -1 if y_a / x_a < y_b / x_b, 0 if they are equal, else 1.
inline int compare_slopes(const Way<std::int64_t>& a, const Way<std::int64_t>& b) {
    const __int128 left = static_cast<__int128>(a.y) * b.x,
                   right = static_cast<__int128>(b.y) * a.x;
    return left == right ? 0 : left < right ? -1 : 1;
}
inline int compare_slopes(const Way<__int128>& a, const Way<__int128>& b) {
    const int sign_a = (a.y > 0) - (a.y < 0), sign_b = (b.y > 0) - (b.y < 0);
    if (sign_a != sign_b || sign_a == 0) return sign_a == sign_b ? 0 : sign_a < sign_b ? -1 : 1;
    const auto size = [](__int128 x) { return static_cast<unsigned __int128>(x < 0 ? -x : x); };
    const Product left = product(size(a.y), size(b.x)), right = product(size(b.y), size(a.x));
    return left == right ? 0 : (left < right) == (sign_a > 0) ? -1 : 1;
}

// A whole number that ascends with the slope, but for an error of one.
template <class Int>
std::uint64_t rough_slope(const Way<Int>& d) {
    const auto x = static_cast<double>(d.x), y = static_cast<double>(d.y);
    const double turn = 1.0 + y / (x + (y < 0.0 ? -y : y));
    constexpr std::uint64_t last = (std::uint64_t{1} << slope_bits) - 1;
    return std::min(static_cast<std::uint64_t>(turn * 0x1p43), last);
}

// Sorts by the slope's bits, in four rounds of 11; events stand in the order of places already.
inline void sort_roughly(std::vector<std::uint64_t>& events, std::vector<std::uint64_t>& spare) {
    if (events.size() < 4096) {
        std::sort(events.begin(), events.end());
        return;
    }
    spare.resize(events.size());
    for (int shift = 2 * place_bits; shift < 64; shift += 11) {
        std::array<std::uint32_t, 2049> start{};
        for (const std::uint64_t e : events) ++start[(e >> shift & 2047) + 1];
        for (std::size_t d = 1; d < start.size(); ++d) start[d] += start[d - 1];
        for (const std::uint64_t e : events) spare[start[e >> shift & 2047]++] = e;
        events.swap(spare);
    }
}

// Puts runs of nearly equal slopes in their true order; equal slopes by places.
template <class Int>
void sort_exactly(std::vector<std::uint64_t>& events, const Table& t) {
    const auto before = [&](std::uint64_t a, std::uint64_t b) {
        const int c = compare_slopes(way<Int>(t.row(first_of(a)), t.row(second_of(a))),
                                     way<Int>(t.row(first_of(b)), t.row(second_of(b))));
        constexpr std::uint64_t places = (std::uint64_t{1} << 2 * place_bits) - 1;
        return c != 0 ? c < 0 : (a & places) < (b & places);
    };
    for (auto from = events.begin(); from != events.end();) {
        auto to = from + 1;
        while (to != events.end() && (*to >> 2 * place_bits) - (to[-1] >> 2 * place_bits) <= 1) {
            ++to;
        }
        if (to - from > 1 && !std::is_sorted(from, to, before)) std::sort(from, to, before);
        from = to;
    }
}

// The pairs by slope; those of no width (x = 0) would turn last, back into the first order.
template <class Int>
void find_events(const Table& t, Scratch& s) {
    s.events.clear();
    for (std::int64_t i = 0; i < t.m; ++i) {
        const auto from = static_cast<std::uint64_t>(i) << place_bits;
        for (std::int64_t j = i + 1; j < t.m; ++j) {
            const Way<Int> d = way<Int>(t.row(i), t.row(j));
            if (d.x == 0) continue;
            s.events.push_back(rough_slope(d) << 2 * place_bits | from |
                               static_cast<std::uint64_t>(j));
        }
    }
    sort_roughly(s.events, s.spare);
    sort_exactly<Int>(s.events, t);
}

// All partitions of the rows by lines. Rows ascend by the first share, then by the second.
template <class M>
void meet_lines(SubsetContest<M>& contest, const Table& t, Scratch& s) {
    contest.whole().n < narrow_units ? find_events<std::int64_t>(t, s)
                                     : find_events<__int128>(t, s);
    meet_in_order(contest, t, s);
    const std::int64_t width = t.width();
    s.prefixes.reset(t.m, t.n_classes);
    s.rank.resize(static_cast<std::size_t>(t.m));
    const auto rank = s.rank.data();
    for (std::int64_t p = 0; p < t.m; ++p) {
        std::int64_t* side = s.prefixes.row(p);
        if (p > 0) std::copy_n(s.prefixes.row(p - 1), width, side);
        add_row(side, t.row(p), width);
        rank[p] = static_cast<std::int32_t>(p);
    }
    for (const std::uint64_t event : s.events) {
        const std::int64_t i = first_of(event), j = second_of(event);
        const std::int32_t p = rank[i];
        std::int64_t* side = s.prefixes.row(p);
        add_row(side, t.row(j), width);
        take_row(side, t.row(i), width);
        rank[i] = rank[j];
        rank[j] = p;
        contest.meet(side, [rank, p](std::int64_t g) { return rank[g] <= p; });
    }
}

}  // namespace sortal::trees
