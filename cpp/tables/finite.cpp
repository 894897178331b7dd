// Numbers that are not finite: one pass over memory in the order in which it lies.
#include <cmath>
#include <limits>
#include <vector>

#include "core/portable.hpp"
#include "tables/tables.hpp"

namespace sortal {
namespace {

// Numbers that are no number, and those beyond the largest.
SORTAL_CLONES
void count_strange(const double* row, std::int64_t stride, std::int64_t n, std::int64_t d,
                   std::int64_t* missing, std::int64_t* infinite) {
    for (std::int64_t i = 0; i < n; ++i, row += stride) {
        for (std::int64_t j = 0; j < d; ++j) {
            missing[j] += row[j] != row[j];
            infinite[j] += std::fabs(row[j]) > std::numeric_limits<double>::max();
        }
    }
}

}  // namespace

std::vector<std::int64_t> count_missing(const std::vector<Column<double>>& columns,
                                        std::int64_t n) {
    const auto d = static_cast<std::int64_t>(columns.size());
    std::vector<std::int64_t> missing(columns.size(), 0), infinite(columns.size(), 0);
    if (columns.size() > 1 && side_by_side(columns)) {
        count_strange(columns[0].data, columns[0].stride, n, d, missing.data(), infinite.data());
    } else {
        for (std::size_t j = 0; j < columns.size(); ++j) {
            count_strange(columns[j].data, columns[j].stride, n, 1, &missing[j], &infinite[j]);
        }
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (infinite[j] > 0) missing[j] = -1;
    }
    return missing;
}

}  // namespace sortal
