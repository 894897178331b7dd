// Counting: class × value tables of one block.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core.hpp"

namespace sortal {
namespace {

// Rows per tile: of a row-major matrix of 20 columns a tile stays in the first-level cache, so that
// looking at it once per column, twice, costs no memory traffic. Measured on 2,000,000 x 20:
// 64 rows 0.102 s, 128 rows 0.096 s, 256 rows 0.099 s, 1024 rows 0.155 s.
constexpr std::int64_t tile_rows = 128;

// A table of counts while a block is being read: class-major, its width a power of two, so that a
// cell is found by a shift and tested by one OR over the tile.
template <class Count>
struct OpenTable {
    std::int64_t low = 0;
    int bits = -1;  // no table yet
    std::vector<Count> cells;

    bool holds(std::uint64_t offsets) const { return bits >= 0 && (offsets >> bits) == 0; }
};

// The OR of all x - low: below 2^bits if and only if every value lies in the table.
SORTAL_CLONES std::uint64_t or_of_offsets(Column<std::int64_t> x, std::int64_t n,
                                          std::int64_t low) {
    std::uint64_t any = 0;
    const auto base = static_cast<std::uint64_t>(low);
    for (std::int64_t i = 0; i < n; ++i) any |= static_cast<std::uint64_t>(x[i]) - base;
    return any;
}

// Makes room for the values of a tile; false where the span would exceed max_span.
template <class Count>
bool grow(OpenTable<Count>& table, Column<std::int64_t> x, std::int64_t n, std::int64_t n_classes,
          std::int64_t max_span) {
    std::int64_t low = x[0], high = x[0];
    for (std::int64_t i = 1; i < n; ++i) {
        low = std::min(low, x[i]);
        high = std::max(high, x[i]);
    }
    const std::int64_t old_size = table.bits < 0 ? 0 : std::int64_t{1} << table.bits;
    if (old_size > 0) {
        low = std::min(low, table.low);
        const std::int64_t room = std::numeric_limits<std::int64_t>::max() - table.low;
        high = std::max(high, table.low + std::min(room, old_size - 1));
    }
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    if (span >= static_cast<std::uint64_t>(max_span)) return false;

    const int bits = std::bit_width(span);
    const std::int64_t size = std::int64_t{1} << bits;
    std::vector<Count> cells(static_cast<std::size_t>(size * n_classes), Count{0});
    for (std::int64_t k = 0; k < n_classes && old_size > 0; ++k) {
        std::copy_n(table.cells.begin() + k * old_size, old_size,
                    cells.begin() + k * size + (table.low - low));
    }
    table = {low, bits, std::move(cells)};
    return true;
}

SORTAL_CLONES void add_tile(OpenTable<std::uint32_t>& table, Column<std::int64_t> x,
                            std::int64_t n, const std::int32_t* classes) {
    std::uint32_t* cells = table.cells.data();
    const std::int64_t low = table.low;
    const int bits = table.bits;
    for (std::int64_t i = 0; i < n; ++i) {
        ++cells[(static_cast<std::int64_t>(classes[i]) << bits) + (x[i] - low)];
    }
}

void add_tile(OpenTable<std::int64_t>& table, Column<std::int64_t> x, std::int64_t n,
              const std::int32_t* classes, const std::int64_t* units) {
    std::int64_t* cells = table.cells.data();
    for (std::int64_t i = 0; i < n; ++i) {
        cells[(static_cast<std::int64_t>(classes[i]) << table.bits) + (x[i] - table.low)] +=
            units[i];
    }
}

// Value-major and of the exact size: what the caller reads.
template <class Count>
ValueTable close(const OpenTable<Count>& open, std::int64_t n_classes) {
    ValueTable table;
    if (open.bits < 0) return table;
    table.low = open.low;
    table.size = std::int64_t{1} << open.bits;
    table.cells.resize(static_cast<std::size_t>(table.size * n_classes));
    for (std::int64_t k = 0; k < n_classes; ++k) {
        for (std::int64_t v = 0; v < table.size; ++v) {
            table.cells[static_cast<std::size_t>(v * n_classes + k)] =
                static_cast<std::int64_t>(open.cells[static_cast<std::size_t>(k * table.size + v)]);
        }
    }
    return table;
}

template <class Count>
std::vector<ValueTable> count_tiles(const std::vector<Column<std::int64_t>>& columns,
                                    const Rows& rows, std::int64_t max_span) {
    std::vector<OpenTable<Count>> open(columns.size());
    std::vector<char> too_wide(columns.size(), 0);
    for (std::int64_t start = 0; start < rows.n; start += tile_rows) {
        const std::int64_t n = std::min(tile_rows, rows.n - start);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            if (too_wide[j]) continue;
            const auto x = columns[j].from(start);
            if (!open[j].holds(or_of_offsets(x, n, open[j].low)) &&
                !grow(open[j], x, n, rows.n_classes, max_span)) {
                too_wide[j] = 1;
                continue;
            }
            if constexpr (std::is_same_v<Count, std::uint32_t>) {
                add_tile(open[j], x, n, rows.classes + start);
            } else {
                add_tile(open[j], x, n, rows.classes + start, rows.units + start);
            }
        }
    }
    std::vector<ValueTable> tables;
    tables.reserve(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        tables.push_back(too_wide[j] ? ValueTable{} : close(open[j], rows.n_classes));
        tables.back().too_wide = too_wide[j] != 0;
    }
    return tables;
}

}  // namespace

SORTAL_CLONES bool codes_below(Column<std::int32_t> codes, std::int64_t n, std::int64_t limit) {
    std::int32_t most = -1;
    for (std::int64_t i = 0; i < n; ++i) most = std::max(most, codes[i]);
    return most < limit;
}

SORTAL_CLONES bool no_negatives(Column<std::int32_t> codes, std::int64_t n) {
    std::int32_t least = 0;
    for (std::int64_t i = 0; i < n; ++i) least = std::min(least, codes[i]);
    return least == 0;
}

void count_codes(Column<std::int32_t> codes, const Rows& rows, std::int64_t* cells) {
    const std::int64_t K = rows.n_classes;
    if (rows.units) {
        for (std::int64_t i = 0; i < rows.n; ++i) {
            if (codes[i] >= 0) cells[codes[i] * K + rows.classes[i]] += rows.units[i];
        }
    } else {
        const std::int32_t* classes = rows.classes;
        for (std::int64_t i = 0; i < rows.n; ++i) {
            if (codes[i] >= 0) ++cells[codes[i] * K + classes[i]];
        }
    }
}

std::vector<ValueTable> count_integers(const std::vector<Column<std::int64_t>>& columns,
                                       const Rows& rows, std::int64_t max_span) {
    // 32-bit counters halve the tables in the first-level cache; the bindings refuse longer blocks.
    return rows.units ? count_tiles<std::int64_t>(columns, rows, max_span)
                      : count_tiles<std::uint32_t>(columns, rows, max_span);
}

}  // namespace sortal
