// A sum of products in eight lanes that are added in a fixed order: as fast as the machine's
// instructions allow, and the same digits with all of them.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace sortal {

constexpr std::int64_t lanes = 8;

SORTAL_INLINE double dot(const double* z, const double* w, std::int64_t d) {
    double sums[lanes] = {};
    std::int64_t j = 0;
    for (; j + lanes <= d; j += lanes) {
        for (std::int64_t l = 0; l < lanes; ++l) sums[l] += z[j + l] * w[j + l];
    }
    double rest = 0.0;  // apart, so that the lanes stay in registers
    for (; j < d; ++j) rest += z[j] * w[j];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7])) + rest;
}

}  // namespace sortal
