// Ranking: the sorted distinct values of a column and each row's place among them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tables/tables.hpp"

namespace sortal {
namespace {

// Up to this span the distinct values are found by a table of marks instead of sorting.
constexpr std::uint64_t max_marks = std::uint64_t{1} << 20;

std::vector<std::int64_t> rank_by_marks(Column<std::int64_t> x, std::int64_t n, std::int64_t low,
                                        std::uint64_t span, std::int32_t* codes) {
    std::vector<std::int32_t> rank(static_cast<std::size_t>(span) + 1, -1);
    for (std::int64_t i = 0; i < n; ++i) rank[static_cast<std::size_t>(x[i] - low)] = 0;
    std::vector<std::int64_t> values;
    for (std::size_t v = 0; v < rank.size(); ++v) {
        if (rank[v] < 0) continue;
        rank[v] = static_cast<std::int32_t>(values.size());
        values.push_back(low + static_cast<std::int64_t>(v));
    }
    for (std::int64_t i = 0; i < n; ++i) codes[i] = rank[static_cast<std::size_t>(x[i] - low)];
    return values;
}

std::vector<std::int64_t> rank_by_sorting(Column<std::int64_t> x, std::int64_t n,
                                          std::int32_t* codes) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = x[i];
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (std::int64_t i = 0; i < n; ++i) {
        const auto at = std::lower_bound(values.begin(), values.end(), x[i]);
        codes[i] = static_cast<std::int32_t>(at - values.begin());
    }
    return values;
}

}  // namespace

std::vector<std::int64_t> rank_integers(Column<std::int64_t> column, std::int64_t n,
                                        std::int32_t* codes) {
    if (n == 0) return {};
    std::int64_t low = column[0], high = column[0];
    for (std::int64_t i = 1; i < n; ++i) {
        low = std::min(low, column[i]);
        high = std::max(high, column[i]);
    }
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    return span < max_marks ? rank_by_marks(column, n, low, span, codes)
                            : rank_by_sorting(column, n, codes);
}

void place_integers(const std::vector<Column<std::int64_t>>& columns,
                    const std::vector<Lookup>& lookups, std::int64_t n, std::int32_t unknown,
                    std::int32_t* out) {
    for (std::int64_t start = 0; start < n; start += tile_rows) {
        const std::int64_t rows = std::min(tile_rows, n - start);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const auto x = columns[j].from(start);
            const auto low = static_cast<std::uint64_t>(lookups[j].low);
            const auto size = static_cast<std::uint64_t>(lookups[j].size);
            std::int32_t* codes = out + static_cast<std::int64_t>(j) * n + start;
            for (std::int64_t i = 0; i < rows; ++i) {
                const std::uint64_t offset = static_cast<std::uint64_t>(x[i]) - low;
                codes[i] = offset < size ? lookups[j].codes[offset] : unknown;
            }
        }
    }
}

}  // namespace sortal
