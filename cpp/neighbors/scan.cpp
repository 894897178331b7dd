// Scan: every row against every query, tile by tile; any metric, with missing values and codes.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/portable.hpp"
#include "neighbors/distance_keys.hpp"
#include "neighbors/neighbors.hpp"

namespace sortal::neighbors {
namespace {

constexpr std::int64_t width = 64;        // rows of a tile
constexpr std::int64_t query_block = 32;  // queries that share the work of turning a tile

// One column of a tile in which some cells are missing values, of the rows or of the query.
template <class Term>
SORTAL_INLINE void add_known(const double* column, double x, double f, double p, double* sums,
                             std::int32_t* known) {
    for (std::int64_t r = 0; r < width; ++r) {
        const double term = Term::term(x, column[r], f);
        const bool both = term == term;
        sums[r] = both ? Term::add(sums[r], term, p) : sums[r];
        known[r] += both;
    }
}

// The loops of a metric: over tiles without missing values, and over columns with some.
struct Loops {
    bool (*sums)(const double*, std::int64_t, const double*, const double*, double, double,
                 double*);
    void (*known)(const double*, double, double, double, double*, std::int32_t*);
};
#define SORTAL_LOOPS(Term)                                                                 \
    SORTAL_CLONES bool sums_##Term(const double* tile, std::int64_t m, const double* x,    \
                                   const double* f, double p, double limit, double* out) { \
        return tile_sums<Term, width>(tile, m, x, f, p, limit, out);                       \
    }                                                                                      \
    SORTAL_CLONES void known_##Term(const double* column, double x, double f, double p,    \
                                    double* sums, std::int32_t* known) {                   \
        add_known<Term>(column, x, f, p, sums, known);                                     \
    }                                                                                      \
    Loops loops_of(Term) { return {sums_##Term, known_##Term}; }
SORTAL_EACH_TERM(SORTAL_LOOPS)
#undef SORTAL_LOOPS

SORTAL_CLONES void count_differing(const std::int32_t* column, std::int32_t code,
                                   std::int32_t* differing) {
    for (std::int64_t r = 0; r < width; ++r) differing[r] += column[r] != code;
}
SORTAL_CLONES void count_known_differing(const std::int32_t* column, std::int32_t code,
                                         std::int32_t* differing, std::int32_t* known) {
    for (std::int64_t r = 0; r < width; ++r) {
        const std::int32_t both = column[r] != -1;
        differing[r] += both & static_cast<std::int32_t>(column[r] != code);
        known[r] += both;
    }
}

// Everything that a thread writes to.
struct Scratch {
    std::vector<double> numbers;      // a tile of numbers, column by column
    std::vector<std::int32_t> codes;  // the same of codes
    double sums[width];
    std::int32_t known[width], differing[width];
};

template <class T>
class ScanIndex final : public Index {
  public:
    ScanIndex(NumberRows<T> numbers, CodeRows codes, Metric metric)
        : numbers_(numbers), codes_(codes), metric_(std::move(metric)),
          loops_(with_terms(metric_, [](auto terms) { return loops_of(terms); })) {
        missing_ = has_missing(numbers_, codes_);
    }

    void search(const Queries& queries, const Nearest& out, Workers& workers) const override {
        const std::int64_t n_jobs = (queries.size() + query_block - 1) / query_block;
        std::vector<Scratch> scratches(static_cast<std::size_t>(workers.size()));
        workers.run(n_jobs, [&](std::int64_t job, int worker) {
            const std::int64_t from = job * query_block;
            const std::int64_t to = std::min(from + query_block, queries.size());
            scan(queries, from, to, out, scratches[static_cast<std::size_t>(worker)],
                 [&] { workers.check(worker); });
        });
    }

  private:
    template <class U>
    static bool has_missing(const NumberRows<U>& numbers, const CodeRows& codes) {
        const std::int64_t n = numbers.n * numbers.m;
        bool found = false;
        for (std::int64_t i = 0; i < n && !found; ++i) found = numbers.data[i] != numbers.data[i];
        for (std::int64_t i = 0; i < codes.n * codes.c && !found; ++i) found = codes.data[i] == -1;
        return found;
    }

    template <class Poll>
    void scan(const Queries& queries, std::int64_t from, std::int64_t to, const Nearest& out,
              Scratch& scratch, const Poll& poll) const {
        std::vector<Best> best(static_cast<std::size_t>(to - from), Best(out.k));
        std::vector<char> careful(static_cast<std::size_t>(to - from));
        for (std::int64_t i = from; i < to; ++i) {
            const NumberRows<double> one{queries.numbers.row(i), 1, queries.numbers.m};
            const CodeRows words{queries.codes.row(i), 1, queries.codes.c};
            careful[static_cast<std::size_t>(i - from)] = missing_ || has_missing(one, words);
        }
        for (std::int64_t start = 0; start < numbers_.n; start += width) {
            if (start % (4 * width) == 0) poll();  // powers of many columns take long
            const std::int64_t n = std::min(width, numbers_.n - start);
            turn(start, n, scratch);
            for (std::int64_t i = from; i < to; ++i) {
                Best& mine = best[static_cast<std::size_t>(i - from)];
                if (careful[static_cast<std::size_t>(i - from)]) {
                    keys_with_missing(queries, i, scratch);
                } else if (!keys(queries, i, mine.limit(), scratch)) {
                    continue;
                }
                const double limit = mine.limit();
                const std::int64_t excluded = queries.excluded(i) - start;
                for (std::int64_t r = 0; r < n; ++r) {
                    if (scratch.sums[r] <= limit && r != excluded) {
                        mine.offer(scratch.sums[r], start + r);
                    }
                }
            }
        }
        for (std::int64_t i = from; i < to; ++i) {
            best[static_cast<std::size_t>(i - from)].write(out, i);
        }
    }

    // Rows start .. start + n - 1 column by column; a tile that is not full repeats its last row.
    void turn(std::int64_t start, std::int64_t n, Scratch& scratch) const {
        scratch.numbers.resize(static_cast<std::size_t>(numbers_.m * width));
        scratch.codes.resize(static_cast<std::size_t>(codes_.c * width));
        for (std::int64_t r = 0; r < width; ++r) {
            const std::int64_t i = start + std::min(r, n - 1);
            const T* row = numbers_.row(i);
            for (std::int64_t j = 0; j < numbers_.m; ++j) {
                scratch.numbers[static_cast<std::size_t>(j * width + r)] =
                    static_cast<double>(row[j]);
            }
            const std::int32_t* words = codes_.row(i);
            for (std::int64_t j = 0; j < codes_.c; ++j) {
                scratch.codes[static_cast<std::size_t>(j * width + r)] = words[j];
            }
        }
    }

    // False where no key is within the limit.
    bool keys(const Queries& queries, std::int64_t i, double limit, Scratch& scratch) const {
        if (!loops_.sums(scratch.numbers.data(), numbers_.m, queries.numbers.row(i),
                         metric_.factors.data(), metric_.power, limit, scratch.sums)) {
            return false;
        }
        if (codes_.c == 0) return true;
        std::fill(scratch.differing, scratch.differing + width, 0);
        const std::int32_t* words = queries.codes.row(i);
        for (std::int64_t j = 0; j < codes_.c; ++j) {
            const std::int32_t* column = scratch.codes.data() + j * width;
            count_differing(column, words[j], scratch.differing);
        }
        for (std::int64_t r = 0; r < width; ++r) scratch.sums[r] += scratch.differing[r];
        return true;
    }

    // Columns without a value in the row or in the query are left out, and the rest stands for
    // them. (S 80)
    void keys_with_missing(const Queries& queries, std::int64_t i, Scratch& scratch) const {
        std::fill(scratch.sums, scratch.sums + width, 0.0);
        std::fill(scratch.known, scratch.known + width, 0);
        std::fill(scratch.differing, scratch.differing + width, 0);
        const double* x = queries.numbers.row(i);
        for (std::int64_t j = 0; j < numbers_.m; ++j) {
            const double* column = scratch.numbers.data() + j * width;
            if (x[j] != x[j]) continue;
            loops_.known(column, x[j], metric_.factors[static_cast<std::size_t>(j)], metric_.power,
                         scratch.sums, scratch.known);
        }
        const std::int32_t* words = queries.codes.row(i);
        for (std::int64_t j = 0; j < codes_.c; ++j) {
            const std::int32_t* column = scratch.codes.data() + j * width;
            if (words[j] != -1) {
                count_known_differing(column, words[j], scratch.differing, scratch.known);
            }
        }
        const auto d = static_cast<double>(metric_.n_columns);
        for (std::int64_t r = 0; r < width; ++r) {
            double key = scratch.sums[r] + scratch.differing[r];
            if (!std::isinf(metric_.power)) key *= d / scratch.known[r];
            scratch.sums[r] = scratch.known[r] ? key : std::numeric_limits<double>::infinity();
        }
    }

    NumberRows<T> numbers_;
    CodeRows codes_;
    Metric metric_;
    Loops loops_;
    bool missing_;
};

}  // namespace

template <class T>
std::unique_ptr<Index> scan_index(NumberRows<T> numbers, CodeRows codes, Metric metric) {
    return std::make_unique<ScanIndex<T>>(numbers, codes, std::move(metric));
}
template std::unique_ptr<Index> scan_index(NumberRows<float>, CodeRows, Metric);
template std::unique_ptr<Index> scan_index(NumberRows<double>, CodeRows, Metric);

}  // namespace sortal::neighbors
