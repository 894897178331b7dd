// Loops over bytes, each for any machine, for AVX2 and for AVX-512. Which one runs decides how many
// rows bytes can exclude, never which neighbors are found.
#include "neighbors/byte_loops.hpp"

#include <cstdlib>
#include <cstring>

#include "core/portable.hpp"

#if SORTAL_X86
#include <immintrin.h>
#endif

namespace sortal::neighbors {
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

#define SORTAL_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vnni"), always_inline)) inline

SORTAL_AVX512 __m512i four_bytes(const std::uint8_t* query) {
    std::int32_t four;
    std::memcpy(&four, query, sizeof four);
    return _mm512_set1_epi32(four);
}
SORTAL_AVX512 void pass_products(__m512i a, __m512i b, __m512i c, __m512i d, std::int32_t threshold,
                                 int i, Passed& out) {
    const __m512i least = _mm512_set1_epi32(threshold);
    const std::uint64_t first = _mm512_cmpge_epi32_mask(a, least);
    const std::uint64_t second = _mm512_cmpge_epi32_mask(b, least);
    const std::uint64_t third = _mm512_cmpge_epi32_mask(c, least);
    const std::uint64_t fourth = _mm512_cmpge_epi32_mask(d, least);
    const std::uint64_t mask = first | second << 16 | third << 32 | fourth << 48;
    out.masks[i] = mask;
    if (!mask) return;
    std::int32_t* mine = out.sums + i * panel_rows;
    _mm512_store_si512(mine, a);
    _mm512_store_si512(mine + 16, b);
    _mm512_store_si512(mine + 32, c);
    _mm512_store_si512(mine + 48, d);
}

// 24 sums of 16 rows stay in registers, so that a group of columns costs one instruction for each.
// They have names of their own and are held after each step: else GCC 12 writes copies to memory in
// the loop, and 1,000 queries of 60,000 x 784 take 0.60 s instead of 0.36 s.
#define SORTAL_SUMS(i) __m512i a##i = base_a, b##i = base_b, c##i = base_c, d##i = base_d;
#define SORTAL_STEP(i)                                    \
    {                                                     \
        const __m512i q = four_bytes(queries[i] + 4 * g); \
        a##i = _mm512_dpbusd_epi32(a##i, row_a, q);       \
        b##i = _mm512_dpbusd_epi32(b##i, row_b, q);       \
        c##i = _mm512_dpbusd_epi32(c##i, row_c, q);       \
        d##i = _mm512_dpbusd_epi32(d##i, row_d, q);       \
    }
#define SORTAL_HOLD(i) __asm__("" : "+v"(a##i), "+v"(b##i), "+v"(c##i), "+v"(d##i));
#define SORTAL_PASS(i) pass_products(a##i, b##i, c##i, d##i, thresholds[i], i, out);
#define SORTAL_SIX(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vnni"))) void avx512_products(
    const Panel& panel, const std::uint8_t* const* queries, const std::int32_t* thresholds,
    Passed& out) {
    static_assert(product_queries == 6);
    const __m512i base_a = _mm512_loadu_si512(panel.base);
    const __m512i base_b = _mm512_loadu_si512(panel.base + 16);
    const __m512i base_c = _mm512_loadu_si512(panel.base + 32);
    const __m512i base_d = _mm512_loadu_si512(panel.base + 48);
    SORTAL_SIX(SORTAL_SUMS)
    for (std::int64_t g = 0; g < panel.groups; ++g) {
        const std::uint8_t* bytes = panel.bytes + g * 256;
        const __m512i row_a = _mm512_loadu_si512(bytes), row_b = _mm512_loadu_si512(bytes + 64);
        const __m512i row_c = _mm512_loadu_si512(bytes + 128);
        const __m512i row_d = _mm512_loadu_si512(bytes + 192);
        SORTAL_SIX(SORTAL_STEP)
        SORTAL_SIX(SORTAL_HOLD)
    }
    SORTAL_SIX(SORTAL_PASS)
}
#undef SORTAL_SUMS
#undef SORTAL_STEP
#undef SORTAL_HOLD
#undef SORTAL_PASS
#undef SORTAL_SIX

SORTAL_AVX512 __m512i eight_bytes(const std::uint8_t* query) {
    std::int64_t eight;
    std::memcpy(&eight, query, sizeof eight);
    return _mm512_set1_epi64(eight);
}
SORTAL_AVX512 void pass_eight(__m512i sums, std::int32_t threshold, int i, int part, Passed& out) {
    const std::uint64_t mask = _mm512_cmple_epi64_mask(sums, _mm512_set1_epi64(threshold));
    out.masks[i] |= mask << (8 * part);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.sums + i * panel_rows + 8 * part),
                       _mm512_cvtepi64_epi32(sums));
}

// Sums of differences have 64 bits, 8 rows each: 24 of them for three queries.
#define SORTAL_EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define SORTAL_SUMS(r)                                                               \
    __m512i a##r = _mm512_cvtepi32_epi64(                                            \
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel.base + 8 * (r)))); \
    __m512i b##r = a##r, c##r = a##r;
#define SORTAL_STEP(r)                                                \
    {                                                                 \
        const __m512i rows = _mm512_loadu_si512(bytes + 64 * (r));    \
        a##r = _mm512_add_epi64(a##r, _mm512_sad_epu8(rows, first));  \
        b##r = _mm512_add_epi64(b##r, _mm512_sad_epu8(rows, second)); \
        c##r = _mm512_add_epi64(c##r, _mm512_sad_epu8(rows, third));  \
    }
#define SORTAL_HOLD(r) __asm__("" : "+v"(a##r), "+v"(b##r), "+v"(c##r));
#define SORTAL_PASS(r)                          \
    pass_eight(a##r, thresholds[0], 0, r, out); \
    pass_eight(b##r, thresholds[1], 1, r, out); \
    pass_eight(c##r, thresholds[2], 2, r, out);

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vnni"))) void avx512_differences(
    const Panel& panel, const std::uint8_t* const* queries, const std::int32_t* thresholds,
    Passed& out) {
    static_assert(difference_queries == 3);
    SORTAL_EIGHT(SORTAL_SUMS)
    for (std::int64_t g = 0; g < panel.groups; ++g) {
        const std::uint8_t* bytes = panel.bytes + g * 512;
        const __m512i first = eight_bytes(queries[0] + 8 * g);
        const __m512i second = eight_bytes(queries[1] + 8 * g);
        const __m512i third = eight_bytes(queries[2] + 8 * g);
        SORTAL_EIGHT(SORTAL_STEP)
        SORTAL_EIGHT(SORTAL_HOLD)
    }
    for (int i = 0; i < difference_queries; ++i) out.masks[i] = 0;
    SORTAL_EIGHT(SORTAL_PASS)
}
#undef SORTAL_SUMS
#undef SORTAL_STEP
#undef SORTAL_HOLD
#undef SORTAL_PASS
#undef SORTAL_EIGHT
#undef SORTAL_AVX512

// Products of pairs are added in 16 bits, which hold them only where whole numbers go up to 63.
__attribute__((target("avx2"))) void avx2_products(const Panel& panel,
                                                   const std::uint8_t* const* queries,
                                                   const std::int32_t* thresholds, Passed& out) {
    const __m256i ones = _mm256_set1_epi16(1);
    for (int part = 0; part < 2; ++part) {  // 32 rows by 3 queries at a time: 12 sums in registers
        for (int first = 0; first < product_queries; first += 3) {
            __m256i sums[3][4];
            for (int r = 0; r < 4; ++r) {
                const auto* base = reinterpret_cast<const __m256i*>(panel.base + 32 * part + 8 * r);
                for (int i = 0; i < 3; ++i) sums[i][r] = _mm256_loadu_si256(base);
            }
            for (std::int64_t g = 0; g < panel.groups; ++g) {
                const std::uint8_t* bytes = panel.bytes + g * 256 + 128 * part;
                __m256i q[3];
                for (int i = 0; i < 3; ++i) {
                    std::int32_t four;
                    std::memcpy(&four, queries[first + i] + 4 * g, sizeof four);
                    q[i] = _mm256_set1_epi32(four);
                }
                SORTAL_UNROLL(4)
                for (int r = 0; r < 4; ++r) {
                    const __m256i rows =
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32 * r));
                    SORTAL_UNROLL(3)
                    for (int i = 0; i < 3; ++i) {
                        const __m256i pairs = _mm256_maddubs_epi16(rows, q[i]);
                        sums[i][r] = _mm256_add_epi32(sums[i][r], _mm256_madd_epi16(pairs, ones));
                    }
                }
            }
            for (int i = 0; i < 3; ++i) {
                std::int32_t* mine = out.sums + (first + i) * panel_rows + 32 * part;
                const __m256i threshold = _mm256_set1_epi32(thresholds[first + i]);
                std::uint64_t mask = 0;
                for (int r = 0; r < 4; ++r) {
                    _mm256_store_si256(reinterpret_cast<__m256i*>(mine + 8 * r), sums[i][r]);
                    const __m256i below = _mm256_cmpgt_epi32(threshold, sums[i][r]);
                    const int some = ~_mm256_movemask_ps(_mm256_castsi256_ps(below)) & 0xFF;
                    mask |= static_cast<std::uint64_t>(some) << (8 * r);
                }
                if (part == 0) out.masks[first + i] = 0;
                out.masks[first + i] |= mask << (32 * part);
            }
        }
    }
}

__attribute__((target("avx2"))) void avx2_differences(const Panel& panel,
                                                      const std::uint8_t* const* queries,
                                                      const std::int32_t* thresholds, Passed& out) {
    for (int i = 0; i < difference_queries; ++i) out.masks[i] = 0;
    for (int part = 0; part < 4; ++part) {  // 16 rows by 3 queries at a time
        __m256i sums[difference_queries][4];
        for (int r = 0; r < 4; ++r) {
            const auto* base = reinterpret_cast<const __m128i*>(panel.base + 16 * part + 4 * r);
            const __m256i wide = _mm256_cvtepi32_epi64(_mm_loadu_si128(base));
            for (int i = 0; i < difference_queries; ++i) sums[i][r] = wide;
        }
        for (std::int64_t g = 0; g < panel.groups; ++g) {
            const std::uint8_t* bytes = panel.bytes + g * 512 + 128 * part;
            __m256i q[difference_queries];
            for (int i = 0; i < difference_queries; ++i) {
                std::int64_t eight;
                std::memcpy(&eight, queries[i] + 8 * g, sizeof eight);
                q[i] = _mm256_set1_epi64x(eight);
            }
            SORTAL_UNROLL(4)
            for (int r = 0; r < 4; ++r) {
                const __m256i rows =
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32 * r));
                SORTAL_UNROLL(3)
                for (int i = 0; i < difference_queries; ++i) {
                    sums[i][r] = _mm256_add_epi64(sums[i][r], _mm256_sad_epu8(rows, q[i]));
                }
            }
        }
        for (int i = 0; i < difference_queries; ++i) {
            const __m256i threshold = _mm256_set1_epi64x(thresholds[i]);
            std::uint64_t mask = 0;
            for (int r = 0; r < 4; ++r) {
                alignas(32) std::int64_t four[4];
                _mm256_store_si256(reinterpret_cast<__m256i*>(four), sums[i][r]);
                for (int l = 0; l < 4; ++l) {
                    out.sums[i * panel_rows + 16 * part + 4 * r + l] =
                        static_cast<std::int32_t>(four[l]);
                }
                const __m256i above = _mm256_cmpgt_epi64(sums[i][r], threshold);
                const int some = ~_mm256_movemask_pd(_mm256_castsi256_pd(above)) & 0xF;
                mask |= static_cast<std::uint64_t>(some) << (4 * r);
            }
            out.masks[i] |= mask << (16 * part);
        }
    }
}

bool has_avx2() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}
bool has_avx512() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni");
}

#endif

}  // namespace

ByteLoop product_loop(int wide) {
#if SORTAL_X86
    if (wide >= 2 && has_avx512()) return {4, product_queries, 127, avx512_products};
    if (wide >= 1 && has_avx2()) return {4, product_queries, 63, avx2_products};
#endif
    (void)wide;
    return {4, product_queries, 127, plain_products};
}

ByteLoop difference_loop(int wide) {
#if SORTAL_X86
    if (wide >= 2 && has_avx512()) return {8, difference_queries, 127, avx512_differences};
    if (wide >= 1 && has_avx2()) return {8, difference_queries, 127, avx2_differences};
#endif
    (void)wide;
    return {8, difference_queries, 127, plain_differences};
}

}  // namespace sortal::neighbors
