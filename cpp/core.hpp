// The compiled core: loops over one block of rows, nothing else.
//
// Words
//   block    the rows handed to one call; i counts its rows, n of them
//   column   one attribute of the block, j; a pointer and the distance between rows
//   code     the rank of a category in a list of values; negative: a hole
//   class    the code of a row's label, k of K; never negative
//   units    a row's weight as a whole number of units (a unit is a power of two)
//   cell     one entry of a count table, cell[v * K + k]
//
// Contract
//   - Inputs are read only and may lie anywhere (memory maps, every n-th element of a matrix).
//   - Sizes are 64-bit: more than 2^31 cells are ordinary.
//   - Whole numbers are summed as whole numbers; results do not depend on the order of rows.
//   - Floating point is summed in a fixed order (of rows, or of columns in eight lanes), so that neither
//     threads nor wider instructions can change a digit.
//   - No threads (but those of a call that grows a tree or looks for neighbors), no global state, no
//     Python: callers split the rows and release the GIL.
//   - What was checked by the bindings (lengths, codes in range) is not checked again here.
#pragma once

#include <cstdint>
#include <vector>

// Where the loader can choose between versions of a function, loops over whole numbers, and those
// that fix the order of their sums, are also compiled for AVX2 machines. Elsewhere the macro is empty.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SORTAL_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define SORTAL_CLONES
#endif

namespace sortal {

// Rows per tile, where several columns are read together: of a row-major matrix of 20 columns a tile
// stays in the first-level cache, so that looking at it once a column costs no memory traffic.
// Counting 2,000,000 x 20 took 0.102 s with 64 rows, 0.096 s with 128, 0.099 s with 256, 0.155 s
// with 1024.
constexpr std::int64_t tile_rows = 128;

template <class T>
struct Column {
    const T* data;
    std::int64_t stride;  // in elements

    const T& operator[](std::int64_t i) const { return data[i * stride]; }
    Column from(std::int64_t i) const { return {data + i * stride, stride}; }
};

// The columns of a row-major matrix: a row is one stretch of memory.
inline bool side_by_side(const std::vector<Column<double>>& columns) {
    for (std::size_t j = 1; j < columns.size(); ++j) {
        if (columns[j].data != columns[0].data + j || columns[j].stride != columns[0].stride) {
            return false;
        }
    }
    return !columns.empty();
}

// The labels and weights of a block. `units` is null where every row weighs one unit.
struct Rows {
    std::int64_t n;
    std::int64_t n_classes;
    const std::int32_t* classes;
    const std::int64_t* units;
};

// counts.cpp ------------------------------------------------------------------------------------

// What the bindings check before a loop trusts its codes.
bool codes_below(Column<std::int32_t> codes, std::int64_t n, std::int64_t limit);
bool no_negatives(Column<std::int32_t> codes, std::int64_t n);

// cells[v * K + k] += units of the rows of class k with code v. Rows with a negative code are holes.
void count_codes(Column<std::int32_t> codes, const Rows& rows, std::int64_t* cells);

// Counts of a column of whole numbers, over the values low, low + 1, …, low + size - 1.
struct ValueTable {
    std::int64_t low = 0;
    std::int64_t size = 0;
    std::vector<std::int64_t> cells;  // size * K
    bool too_wide = false;  // the values span more than max_span; nothing was counted
};

// One pass over the block for all columns; a table grows when a value lies outside it.
std::vector<ValueTable> count_integers(const std::vector<Column<std::int64_t>>& columns,
                                       const Rows& rows, std::int64_t max_span);

// ranks.cpp -------------------------------------------------------------------------------------

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

// terms.cpp -------------------------------------------------------------------------------------

// total[i * K + k] += table[v * K + k] for row i's code v; rows with a negative code stay as they are.
void add_terms(Column<std::int32_t> codes, std::int64_t n, const double* table,
               std::int64_t n_classes, double* total);

// finite.cpp ------------------------------------------------------------------------------------

// Which columns hold a NaN or an infinity.
std::vector<bool> not_finite(const std::vector<Column<double>>& columns, std::int64_t n);

// How many NaN each column holds; -1 where it holds an infinity.
std::vector<std::int64_t> count_holes(const std::vector<Column<double>>& columns, std::int64_t n);

// moments.cpp -----------------------------------------------------------------------------------

// Per class: units, mean and sum of squared deviations (in units) of the values that are numbers.
// The mean is mean + tail: the tail is what a float64 cannot hold of it, less than its last digit.
struct ColumnMoments {
    std::vector<std::int64_t> units;
    std::vector<double> mean;
    std::vector<double> tail;
    std::vector<double> m2;
};

// `wide` asks for the AVX2 version where the machine has it; the digits are the same.
ColumnMoments class_moments(Column<double> values, const Rows& rows, bool wide);

// Rows as numbers only: the number columns, then for each code column one indicator per value, 1 in
// the rows that have the value and 0 elsewhere.
struct Design {
    std::vector<Column<double>> numbers;
    std::vector<Column<std::int32_t>> codes;
    std::vector<std::int64_t> sizes;  // values per code column; codes lie below
    std::int64_t n_terms;             // numbers and indicators
};

bool codes_below(Column<std::int32_t> codes, const std::int64_t* rows, std::int64_t n,
                 std::int64_t limit);

// out[i] = scale[i] * (z, 1, |z|^2), z = x - origin, for the chosen rows x (null: the first n). The
// product of this block with itself holds every sum that the discriminants need. A hole takes the
// values of `fill`, NaN where it is null. Returns how many rows have an |z|^2 that is not finite.
std::int64_t center_rows(const Design& design, const std::int64_t* rows, std::int64_t n,
                         const double* origin, const double* fill, const double* scale,
                         double* out);

// functions.cpp ---------------------------------------------------------------------------------

// out[i * m + k] = offsets[k] + sum over terms of (x - center) * weights[k * n_terms + j], for the
// first n rows. A row with a hole or an infinity becomes NaN; returns how many did.
std::int64_t map_rows(const Design& design, std::int64_t n, const double* center,
                      const double* weights, const double* offsets, std::int64_t m, double* out);

// quadratics.cpp --------------------------------------------------------------------------------

// out[i * K + k] = the squared length of ((x - centers[k]) - rests[k]) times a lower triangle of r
// columns, for the first n rows; rests hold what a float64 cannot of a center far from 0. A row with
// a hole or an infinity becomes NaN; returns how many did. `wide` as above.
std::int64_t square_rows(const Design& design, std::int64_t n, const double* centers,
                         const double* rests, const double* triangles, std::int64_t K,
                         std::int64_t r, bool wide, double* out);

}  // namespace sortal
