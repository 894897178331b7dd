// Tables: what counts, ranks and looks up the codes and whole numbers of a block.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace sortal {

// counts.cpp -------------------------------------------------------------------------------------

// What the bindings check before a loop trusts its codes.
bool codes_below(Column<std::int32_t> codes, std::int64_t n, std::int64_t limit);
// The same of the chosen rows; null: the first n.
bool codes_below(Column<std::int32_t> codes, const std::int64_t* rows, std::int64_t n,
                 std::int64_t limit);
bool no_negatives(Column<std::int32_t> codes, std::int64_t n);

// cells[v * K + k] += units of the rows of class k with code v. Rows with a negative code are
// missing values.
void count_codes(Column<std::int32_t> codes, const Rows& rows, std::int64_t* cells);

// Counts of a column of whole numbers, over the values low, low + 1, …, low + size - 1.
struct ValueTable {
    std::int64_t low = 0;
    std::int64_t size = 0;
    std::vector<std::int64_t> cells;  // size * K
    bool too_wide = false;            // the values span more than max_span; nothing was counted
};

// One pass over the block for all columns; a table grows when a value lies outside it.
std::vector<ValueTable> count_integers(const std::vector<Column<std::int64_t>>& columns,
                                       const Rows& rows, std::int64_t max_span);

// ranks.cpp --------------------------------------------------------------------------------------

// The sorted distinct values of a column; codes[i] becomes the rank of row i's value.
std::vector<std::int64_t> rank_integers(Column<std::int64_t> column, std::int64_t n,
                                        std::int32_t* codes);

// The codes of whole numbers by a list of values: codes[x - low], and `unknown` outside the list.
struct Lookup {
    std::int64_t low;
    std::int64_t size;
    const std::int32_t* codes;
};

// Column j's codes go to out[j * n], out[j * n + 1], …; all columns in one pass over the block.
void place_integers(const std::vector<Column<std::int64_t>>& columns,
                    const std::vector<Lookup>& lookups, std::int64_t n, std::int32_t unknown,
                    std::int32_t* out);

// table_scores.cpp -------------------------------------------------------------------------------

// total[i * K + k] += table[v * K + k] for row i's code v; rows with a negative code stay as they
// are.
void add_terms(Column<std::int32_t> codes, std::int64_t n, const double* table,
               std::int64_t n_classes, double* total);

// finite.cpp -------------------------------------------------------------------------------------

// How many NaN each column holds; -1 where it holds an infinity.
std::vector<std::int64_t> count_missing(const std::vector<Column<double>>& columns, std::int64_t n);

}  // namespace sortal
