// Terms: what an attribute's value adds to each class's score.
#include <cstdint>

#include "tables/tables.hpp"

namespace sortal {

void add_terms(Column<std::int32_t> codes, std::int64_t n, const double* table,
               std::int64_t n_classes, double* total) {
    for (std::int64_t i = 0; i < n; ++i) {
        if (codes[i] < 0) continue;
        const double* term = table + codes[i] * n_classes;
        double* row = total + i * n_classes;
        for (std::int64_t k = 0; k < n_classes; ++k) row[k] += term[k];
    }
}

}  // namespace sortal
