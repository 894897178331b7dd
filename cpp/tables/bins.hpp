// Bins: a number column as codes of at most 256 ranges, so that counts by range and class are small
// tables. Bins decide how fast a tree grows, never which tree: within a bin rows are told apart by
// their values.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "core/workers.hpp"

namespace sortal {

// Bin b holds the values x with edges[b - 1] < x <= edges[b].
struct Bins {
    std::vector<double> edges;        // ascending; one fewer than bins
    std::vector<std::uint8_t> mixed;  // whether a bin may hold different values

    std::int64_t size() const { return static_cast<std::int64_t>(mixed.size()); }
};

// codes[j][i] becomes the bin of row i in column j; in columns with missing values, the number
// after all bins where it is NaN.
std::vector<Bins> bin_columns(const std::vector<Column<double>>& columns,
                              const std::vector<bool>& has_missing, std::int64_t n,
                              const std::vector<std::uint8_t*>& codes, Workers& workers);

}  // namespace sortal
