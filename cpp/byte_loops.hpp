// Loops over bytes: a panel of 64 rows against a few queries at once.
#pragma once

#include <cstdint>

namespace sortal {

constexpr std::int64_t panel_rows = 64;
constexpr int most_queries = 6;

// What one call compares. `panel` holds groups of columns one after the other; a group has, for each
// of the 64 rows, its bytes of `group` columns side by side. `base` is what each row's sum begins with.
struct Panel {
    const std::uint8_t* bytes;
    const std::int32_t* base;
    std::int64_t groups;
};

// Of each query, bit r of masks[i] says whether row r passes, and sums[i * 64 + r] are the sums where
// any does.
struct Passed {
    std::uint64_t masks[most_queries];
    alignas(64) std::int32_t sums[most_queries * panel_rows];
};

// A form of comparison: how many columns a group has, how many queries a call takes, and the loop.
// `queries[i]` has groups * group bytes.
struct ByteLoop {
    int group;
    int queries;
    void (*pass)(const Panel&, const std::uint8_t* const* queries, const std::int32_t* thresholds,
                 Passed&);
};

// Sums of products, rows as bytes from 0 to 255 and queries as signed ones; a sum passes that is at
// least the threshold.
ByteLoop product_loop(bool wide);
// Sums of absolute differences of bytes from 0 to 255; a sum passes that is at most the threshold.
ByteLoop difference_loop(bool wide);

}  // namespace sortal
