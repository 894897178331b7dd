// Bits: codes as planes of bits, 32 columns a word. Two rows differ where any plane does, so that
// the number of columns that differ is a count of bits, 64 rows at a time. (MSML hamming)
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/portable.hpp"
#include "neighbors/neighbors.hpp"

#if SORTAL_X86
#include <immintrin.h>
#endif

namespace sortal::neighbors {
namespace {

constexpr std::int64_t width = 64;
constexpr std::int64_t query_block = 256;

// The planes of a word: `planes` of them, from plane `first` on, in rows and queries alike.
struct WordPlanes {
    std::int64_t first;
    std::int64_t planes;
};

// Bit r says that row r of the panel differs in fewer than `limit` columns; counts[r] in how many.
using Count = std::uint64_t (*)(const std::uint32_t* panel, const std::uint32_t* query,
                                const std::vector<WordPlanes>& words, std::int32_t limit,
                                std::int32_t* counts);

SORTAL_CLONES std::uint64_t plain_count(const std::uint32_t* panel, const std::uint32_t* query,
                                        const std::vector<WordPlanes>& words, std::int32_t limit,
                                        std::int32_t* counts) {
    std::fill(counts, counts + width, 0);
    for (const auto& [first, planes] : words) {
        std::uint32_t differs[width] = {};
        for (std::int64_t b = first; b < first + planes; ++b) {
            for (std::int64_t r = 0; r < width; ++r) differs[r] |= panel[b * width + r] ^ query[b];
        }
        for (std::int64_t r = 0; r < width; ++r) counts[r] += std::popcount(differs[r]);
    }
    std::uint64_t mask = 0;
    for (int r = 0; r < width; ++r) mask |= static_cast<std::uint64_t>(counts[r] < limit) << r;
    return mask;
}

#if SORTAL_X86
__attribute__((target("avx512f,avx512vpopcntdq"))) std::uint64_t avx512_count(
    const std::uint32_t* panel, const std::uint32_t* query, const std::vector<WordPlanes>& words,
    std::int32_t limit, std::int32_t* counts) {
    __m512i sums[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                       _mm512_setzero_si512()};
    for (const auto& [first, planes] : words) {
        __m512i differs[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                              _mm512_setzero_si512(), _mm512_setzero_si512()};
        for (std::int64_t b = first; b < first + planes; ++b) {
            const __m512i q = _mm512_set1_epi32(static_cast<int>(query[b]));
            for (int r = 0; r < 4; ++r) {
                const __m512i rows = _mm512_loadu_si512(panel + b * width + 16 * r);
                // differs | (rows ^ q)
                differs[r] = _mm512_ternarylogic_epi32(differs[r], rows, q, 0xF6);
            }
        }
        for (int r = 0; r < 4; ++r) {
            sums[r] = _mm512_add_epi32(sums[r], _mm512_popcnt_epi32(differs[r]));
        }
    }
    const __m512i most = _mm512_set1_epi32(limit);
    std::uint64_t mask = 0;
    for (int r = 0; r < 4; ++r) {
        mask |= static_cast<std::uint64_t>(_mm512_cmplt_epi32_mask(sums[r], most)) << (16 * r);
    }
    if (mask) {
        for (int r = 0; r < 4; ++r) _mm512_storeu_si512(counts + 16 * r, sums[r]);
    }
    return mask;
}

// Bits of half bytes by a table, then added up to words of 32 bits.
__attribute__((target("avx2"))) std::uint64_t avx2_count(const std::uint32_t* panel,
                                                         const std::uint32_t* query,
                                                         const std::vector<WordPlanes>& words,
                                                         std::int32_t limit, std::int32_t* counts) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(0x0F), bytes = _mm256_set1_epi8(1);
    const __m256i pairs = _mm256_set1_epi16(1), most = _mm256_set1_epi32(limit);
    std::uint64_t mask = 0;
    for (int r = 0; r < width; r += 8) {
        __m256i sum = _mm256_setzero_si256();
        for (const auto& [first, planes] : words) {
            __m256i differs = _mm256_setzero_si256();
            for (std::int64_t b = first; b < first + planes; ++b) {
                const __m256i rows =
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel + b * width + r));
                const __m256i q = _mm256_set1_epi32(static_cast<int>(query[b]));
                differs = _mm256_or_si256(differs, _mm256_xor_si256(rows, q));
            }
            const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(differs, 4), low);
            const __m256i each =
                _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(differs, low)),
                                _mm256_shuffle_epi8(table, upper));
            const __m256i words32 = _mm256_madd_epi16(_mm256_maddubs_epi16(each, bytes), pairs);
            sum = _mm256_add_epi32(sum, words32);
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts + r), sum);
        const __m256i fewer = _mm256_cmpgt_epi32(most, sum);
        const auto some = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(fewer)));
        mask |= static_cast<std::uint64_t>(some) << r;
    }
    return mask;
}
#endif

Count count_loop(int wide) {
#if SORTAL_X86
    __builtin_cpu_init();
    if (wide >= 2 && __builtin_cpu_supports("avx512vpopcntdq")) return avx512_count;
    if (wide >= 1 && __builtin_cpu_supports("avx2")) return avx2_count;
#endif
    (void)wide;
    return plain_count;
}

class BitIndex final : public Index {
  public:
    BitIndex(CodeRows rows, const std::vector<std::int64_t>& sizes, int wide)
        : n_(rows.n), count_(count_loop(wide)) {
        lay_out(sizes);
        const std::int64_t n_panels = (n_ + width - 1) / width;
        panels_.assign(static_cast<std::size_t>(n_panels * n_planes_ * width), 0);
        std::vector<std::uint32_t> planes(static_cast<std::size_t>(n_planes_));
        for (std::int64_t i = 0; i < n_; ++i) {
            write_planes(rows.row(i), planes);
            std::uint32_t* panel = panels_.data() + i / width * width * n_planes_ + i % width;
            for (std::int64_t b = 0; b < n_planes_; ++b) {
                panel[b * width] = planes[static_cast<std::size_t>(b)];
            }
        }
    }

    void search(const Queries& queries, const Nearest& out, Workers& workers) const override {
        const std::int64_t n_jobs = (queries.size() + query_block - 1) / query_block;
        workers.run(n_jobs, [&](std::int64_t job, int worker) {
            const std::int64_t from = job * query_block;
            const std::int64_t to = std::min(from + query_block, queries.size());
            pass(queries, from, to, out, [&] { workers.check(worker); });
        });
    }

  private:
    // Columns with about as many values share words: a word has as many planes as its widest
    // column.
    void lay_out(const std::vector<std::int64_t>& sizes) {
        order_.resize(sizes.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
        for (std::size_t at = 0; at < order_.size(); at += 32) {
            // one code more than there are values, for what differs from all of them
            const auto most = static_cast<std::uint64_t>(sizes[order_[at]]);
            const auto planes = static_cast<std::int64_t>(std::bit_width(most));
            words_.push_back({n_planes_, planes});
            n_planes_ += planes;
        }
        sizes_ = sizes;
    }

    void write_planes(const std::int32_t* codes, std::vector<std::uint32_t>& planes) const {
        std::fill(planes.begin(), planes.end(), 0U);
        for (std::size_t at = 0; at < order_.size(); ++at) {
            const std::size_t j = order_[at];
            const bool strange = codes[j] < 0 || codes[j] >= sizes_[j];  // no row has it
            const auto code = static_cast<std::uint32_t>(strange ? sizes_[j] : codes[j]);
            const WordPlanes& word = words_[at / 32];
            for (std::int64_t b = 0; b < word.planes; ++b) {
                planes[static_cast<std::size_t>(word.first + b)] |= (code >> b & 1U) << (at % 32);
            }
        }
    }

    template <class Poll>
    void pass(const Queries& queries, std::int64_t from, std::int64_t to, const Nearest& out,
              const Poll& poll) const {
        const auto n = static_cast<std::size_t>(to - from);
        std::vector<Best> best(n, Best(out.k));
        std::vector<std::int32_t> limits(n, std::numeric_limits<std::int32_t>::max());
        std::vector<std::uint32_t> planes(n * static_cast<std::size_t>(n_planes_)),
            one(static_cast<std::size_t>(n_planes_));
        for (std::size_t q = 0; q < n; ++q) {
            write_planes(queries.codes.row(from + static_cast<std::int64_t>(q)), one);
            std::copy(one.begin(), one.end(),
                      planes.begin() + static_cast<std::ptrdiff_t>(q * one.size()));
        }
        alignas(64) std::int32_t counts[width];
        for (std::int64_t start = 0; start < n_; start += width) {
            if (start % (1024 * width) == 0) poll();
            const std::uint32_t* panel = panels_.data() + start * n_planes_;
            const std::uint64_t full = n_ - start >= width ? ~0ULL : (1ULL << (n_ - start)) - 1;
            for (std::size_t q = 0; q < n; ++q) {
                std::uint64_t mask =
                    full & count_(panel, planes.data() + q * one.size(), words_, limits[q], counts);
                if (!mask) continue;
                const std::int64_t excluded = queries.excluded(from + static_cast<std::int64_t>(q));
                for (; mask; mask &= mask - 1) {
                    const int r = std::countr_zero(mask);
                    if (start + r != excluded) best[q].offer(counts[r], start + r);
                }
                // rows come in order: a later one must differ in fewer columns than the last
                const double limit = best[q].limit();
                if (limit < limits[q]) limits[q] = static_cast<std::int32_t>(limit);
            }
        }
        for (std::size_t q = 0; q < n; ++q) best[q].write(out, from + static_cast<std::int64_t>(q));
    }

    std::int64_t n_;
    Count count_;
    std::int64_t n_planes_ = 0;
    std::vector<std::size_t> order_;
    std::vector<std::int64_t> sizes_;
    std::vector<WordPlanes> words_;
    std::vector<std::uint32_t> panels_;
};

}  // namespace

std::unique_ptr<Index> bit_index(CodeRows codes, const std::vector<std::int64_t>& sizes, int wide) {
    return std::make_unique<BitIndex>(codes, sizes, wide);
}

}  // namespace sortal::neighbors
