// Loops over bytes, each for any machine and for those with AVX-512. Whole numbers: the same results.
#include "byte_loops.hpp"

#include <cstdlib>
#include <cstring>

#include "core.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define SORTAL_X86 1
#include <immintrin.h>
#else
#define SORTAL_X86 0
#endif

namespace sortal {
namespace {

constexpr int product_queries = 6;
constexpr int difference_queries = 3;

void keep(Passed& out, int i, std::uint64_t mask, const std::int32_t* sums) {
    out.masks[i] = mask;
    if (mask) std::memcpy(out.sums + i * panel_rows, sums, panel_rows * sizeof(std::int32_t));
}

SORTAL_CLONES void plain_products(const Panel& panel, const std::uint8_t* const* queries,
                                  const std::int32_t* thresholds, Passed& out) {
    for (int i = 0; i < product_queries; ++i) {
        std::int32_t sums[panel_rows];
        std::memcpy(sums, panel.base, sizeof sums);
        for (std::int64_t g = 0; g < panel.groups; ++g) {
            const std::uint8_t* bytes = panel.bytes + g * 4 * panel_rows;
            std::int32_t q[4];
            for (int c = 0; c < 4; ++c) q[c] = static_cast<std::int8_t>(queries[i][4 * g + c]);
            for (std::int64_t r = 0; r < panel_rows; ++r) {
                sums[r] += bytes[4 * r] * q[0] + bytes[4 * r + 1] * q[1] + bytes[4 * r + 2] * q[2] +
                           bytes[4 * r + 3] * q[3];
            }
        }
        std::uint64_t mask = 0;
        for (int r = 0; r < panel_rows; ++r) {
            mask |= static_cast<std::uint64_t>(sums[r] >= thresholds[i]) << r;
        }
        keep(out, i, mask, sums);
    }
}

SORTAL_CLONES void plain_differences(const Panel& panel, const std::uint8_t* const* queries,
                                     const std::int32_t* thresholds, Passed& out) {
    for (int i = 0; i < difference_queries; ++i) {
        std::int32_t sums[panel_rows];
        std::memcpy(sums, panel.base, sizeof sums);
        for (std::int64_t g = 0; g < panel.groups; ++g) {
            const std::uint8_t* bytes = panel.bytes + g * 8 * panel_rows;
            const std::uint8_t* q = queries[i] + 8 * g;
            for (std::int64_t r = 0; r < panel_rows; ++r) {
                for (int c = 0; c < 8; ++c) sums[r] += std::abs(bytes[8 * r + c] - q[c]);
            }
        }
        std::uint64_t mask = 0;
        for (int r = 0; r < panel_rows; ++r) {
            mask |= static_cast<std::uint64_t>(sums[r] <= thresholds[i]) << r;
        }
        keep(out, i, mask, sums);
    }
}

#if SORTAL_X86

// 24 sums of 16 rows stay in registers, so that a group of columns costs one instruction for each.
__attribute__((target("avx512f,avx512bw,avx512vnni"))) void wide_products(
    const Panel& panel, const std::uint8_t* const* queries, const std::int32_t* thresholds,
    Passed& out) {
    __m512i sums[product_queries][4];
    for (int r = 0; r < 4; ++r) {
        const __m512i base = _mm512_loadu_si512(panel.base + 16 * r);
        for (int i = 0; i < product_queries; ++i) sums[i][r] = base;
    }
    for (std::int64_t g = 0; g < panel.groups; ++g) {
        const std::uint8_t* bytes = panel.bytes + g * 256;
        const __m512i rows[4] = {_mm512_loadu_si512(bytes), _mm512_loadu_si512(bytes + 64),
                                 _mm512_loadu_si512(bytes + 128), _mm512_loadu_si512(bytes + 192)};
#pragma GCC unroll 6
        for (int i = 0; i < product_queries; ++i) {
            std::int32_t four;
            std::memcpy(&four, queries[i] + 4 * g, sizeof four);
            const __m512i q = _mm512_set1_epi32(four);
#pragma GCC unroll 4
            for (int r = 0; r < 4; ++r) sums[i][r] = _mm512_dpbusd_epi32(sums[i][r], rows[r], q);
        }
    }
    for (int i = 0; i < product_queries; ++i) {
        const __m512i threshold = _mm512_set1_epi32(thresholds[i]);
        std::uint64_t mask = 0;
        for (int r = 0; r < 4; ++r) {
            const auto some = _mm512_cmpge_epi32_mask(sums[i][r], threshold);
            mask |= static_cast<std::uint64_t>(some) << (16 * r);
        }
        out.masks[i] = mask;
        if (!mask) continue;
        for (int r = 0; r < 4; ++r) {
            _mm512_store_si512(out.sums + i * panel_rows + 16 * r, sums[i][r]);
        }
    }
}

__attribute__((target("avx512f,avx512bw,avx512dq"))) void wide_differences(
    const Panel& panel, const std::uint8_t* const* queries, const std::int32_t* thresholds,
    Passed& out) {
    __m512i sums[difference_queries][8];
    for (int r = 0; r < 8; ++r) {
        const __m512i base = _mm512_cvtepi32_epi64(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel.base + 8 * r)));
        for (int i = 0; i < difference_queries; ++i) sums[i][r] = base;
    }
    for (std::int64_t g = 0; g < panel.groups; ++g) {
        const std::uint8_t* bytes = panel.bytes + g * 512;
        __m512i q[difference_queries];
        for (int i = 0; i < difference_queries; ++i) {
            std::int64_t eight;
            std::memcpy(&eight, queries[i] + 8 * g, sizeof eight);
            q[i] = _mm512_set1_epi64(eight);
        }
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) {
            const __m512i rows = _mm512_loadu_si512(bytes + 64 * r);
#pragma GCC unroll 3
            for (int i = 0; i < difference_queries; ++i) {
                sums[i][r] = _mm512_add_epi64(sums[i][r], _mm512_sad_epu8(rows, q[i]));
            }
        }
    }
    for (int i = 0; i < difference_queries; ++i) {
        const __m512i threshold = _mm512_set1_epi64(thresholds[i]);
        std::uint64_t mask = 0;
        for (int r = 0; r < 8; ++r) {
            const auto some = _mm512_cmple_epi64_mask(sums[i][r], threshold);
            mask |= static_cast<std::uint64_t>(some) << (8 * r);
        }
        out.masks[i] = mask;
        if (!mask) continue;
        for (int r = 0; r < 8; ++r) {
            _mm256_store_si256(reinterpret_cast<__m256i*>(out.sums + i * panel_rows + 8 * r),
                               _mm512_cvtepi64_epi32(sums[i][r]));
        }
    }
}

bool has_wide() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni");
}

#endif

}  // namespace

ByteLoop product_loop(bool wide) {
#if SORTAL_X86
    if (wide && has_wide()) return {4, product_queries, wide_products};
#endif
    (void)wide;
    return {4, product_queries, plain_products};
}

ByteLoop difference_loop(bool wide) {
#if SORTAL_X86
    if (wide && has_wide()) return {8, difference_queries, wide_differences};
#endif
    (void)wide;
    return {8, difference_queries, plain_differences};
}

}  // namespace sortal
