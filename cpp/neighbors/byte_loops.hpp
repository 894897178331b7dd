// Loops over bytes: a panel of 64 rows against a few queries at once.
#pragma once

#include <cstdint>

namespace sortal::neighbors {

constexpr std::int64_t panel_rows = 64;
constexpr int most_queries = 6;

// What one call compares. `panel` holds groups of columns one after the other; a group has, for
// each of the 64 rows, its bytes of `group` columns side by side. `base` is what each row's sum
// begins with.
struct Panel {
    const std::uint8_t* bytes;
    const std::int32_t* base;
    std::int64_t groups;
};

// Of each query, bit r of masks[i] says whether row r passes, and sums[i * 64 + r] are the sums
// where any does.
struct Passed {
    std::uint64_t masks[most_queries];
    alignas(64) std::int32_t sums[most_queries * panel_rows];
};

// A form of comparison: how many columns a group has, how many queries a call takes, the largest
// whole number whose byte it can take, and the loop. `queries[i]` has groups * group bytes.
struct ByteLoop {
    int group;
    int queries;
    int levels;
    void (*pass)(const Panel&, const std::uint8_t* const* queries, const std::int32_t* thresholds,
                 Passed&);

    // The byte of a row's 0.
    std::int32_t middle() const { return levels + 1; }
    std::uint8_t row_byte(std::int32_t a) const { return static_cast<std::uint8_t>(a + middle()); }
};

// `wide` is the widest form that may be taken where the machine has it: 0 plain, 1 AVX2, 2 AVX-512.
// Sums of products, rows as bytes above zero and queries as signed ones; a sum passes that is at
// least the threshold.
ByteLoop product_loop(int wide);
// Sums of absolute differences of bytes above zero; a sum passes that is at most the threshold.
ByteLoop difference_loop(int wide);

}  // namespace sortal::neighbors
