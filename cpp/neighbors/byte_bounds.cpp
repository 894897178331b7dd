// Bytes: rows rounded to whole numbers of one byte, whose distances bound the distances of the
// rows.
//
// With z = (x - center) * factor, a row is z = step * a + e, a whole numbers of one byte. By the
// triangle inequality the distance of two rows lies within |e_x| + |e_t| of step * |a_x - a_t|, and
// the latter is whole-number arithmetic: 64 products or differences an instruction. Rows that bytes
// cannot exclude, some dozens of 100,000, get their keys from the numbers themselves.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "neighbors/byte_loops.hpp"
#include "neighbors/byte_rounding.hpp"
#include "neighbors/distance_keys.hpp"
#include "neighbors/neighbors.hpp"

namespace sortal::neighbors {
namespace {

constexpr std::int64_t query_block = 192;  // a multiple of what any loop takes at once
constexpr std::int64_t sample_rows = 8192;
// Candidates that a query holds at most before their keys are looked at.
constexpr std::size_t most_candidates = 1024;
// A query is lost to bytes once it had to look at so many rows, and more than an eighth of them:
// looking at a row takes about eight times as long as when all rows are scanned.
constexpr std::int64_t least_lost = 4096;
// The range of bytes is that of all rows but this share, which are *wild*: looked at for every
// query.
constexpr double wild_share = 0.0005;
struct Candidate {
    std::int64_t apart;  // at most what the whole numbers are apart, and at least one less
    std::int64_t position;
};

// A query on its way through the rows.
struct Asked {
    Asked(std::int64_t k, std::int64_t i) : query(i), best(k) {}

    std::int64_t query;
    Rounded rounded{};
    bool lost = false;               // bytes exclude too little: every row is to be scanned
    std::int64_t looked = 0;         // rows whose keys were wanted
    double reach = 0.0;              // 2 (error of the query + largest error of a row), in steps
    std::int64_t limit = -1;         // rows that are further apart are out; -1: none is so far
    std::vector<std::int64_t> near;  // the k least `apart`, a heap
    std::vector<Candidate> candidates;
    Best best;
};

template <class T, class Form>
class ByteIndex final : public Index {
  public:
    ByteIndex(NumberRows<T> rows, Metric metric, Workers& workers, int wide)
        : rows_(rows), metric_(std::move(metric)), loop_(Form::loop(wide)) {
        groups_ = (rows.m + loop_.group - 1) / loop_.group;
        n_panels_ = (rows.n + panel_rows - 1) / panel_rows;
        choose_range();
        round_rows(workers);
    }

    void search(const Queries& queries, const Nearest& out, Workers& workers) const override {
        const std::int64_t n_jobs = (queries.size() + query_block - 1) / query_block;
        std::vector<char> lost(static_cast<std::size_t>(queries.size()));
        workers.run(n_jobs, [&](std::int64_t job, int worker) {
            const std::int64_t from = job * query_block;
            const std::int64_t to = std::min(from + query_block, queries.size());
            pass(queries, from, to, out, lost.data(), [&] { workers.check(worker); });
        });
        scan_lost(queries, lost, out, workers);
    }

  private:
    std::int64_t row_bytes() const { return groups_ * loop_.group; }
    std::int64_t most_looked() const { return std::max(least_lost, rows_.n / 8); }

    // Asks the rows themselves, all of them, for queries that are lost to bytes.
    void scan_lost(const Queries& queries, const std::vector<char>& lost, const Nearest& out,
                   Workers& workers) const {
        std::vector<std::int64_t> which, exclude;
        std::vector<double> numbers;
        for (std::int64_t i = 0; i < queries.size(); ++i) {
            if (!lost[static_cast<std::size_t>(i)]) continue;
            const double* row = queries.numbers.row(i);
            which.push_back(i);
            exclude.push_back(queries.excluded(i));
            numbers.insert(numbers.end(), row, row + rows_.m);
        }
        if (which.empty()) return;
        const auto n = static_cast<std::int64_t>(which.size());
        std::vector<double> keys(static_cast<std::size_t>(n * out.k));
        std::vector<std::int64_t> positions(keys.size());
        const auto scan = scan_index<T>(rows_, CodeRows{nullptr, rows_.n, 0}, metric_);
        scan->search({{numbers.data(), n, rows_.m}, {nullptr, n, 0}, exclude.data()},
                     {out.k, keys.data(), positions.data()}, workers);
        for (std::int64_t r = 0; r < n; ++r) {
            const std::int64_t to = which[static_cast<std::size_t>(r)] * out.k;
            std::copy_n(keys.data() + r * out.k, out.k, out.keys + to);
            std::copy_n(positions.data() + r * out.k, out.k, out.positions + to);
        }
    }

    void choose_range() {
        const std::int64_t step = std::max<std::int64_t>(1, rows_.n / sample_rows);
        center_.assign(static_cast<std::size_t>(rows_.m), 0.0);
        const auto n = static_cast<double>((rows_.n + step - 1) / step);
        for (std::int64_t i = 0; i < rows_.n; i += step) {
            for (std::int64_t j = 0; j < rows_.m; ++j) {
                center_[static_cast<std::size_t>(j)] += static_cast<double>(rows_.row(i)[j]) / n;
            }
        }
        std::vector<double> largest;
        for (std::int64_t i = 0; i < rows_.n; i += step) {
            double most = 0.0;
            for (std::int64_t j = 0; j < rows_.m; ++j) {
                const auto at = static_cast<std::size_t>(j);
                const double x = static_cast<double>(rows_.row(i)[j]) - center_[at];
                most = std::max(most, std::fabs(x * metric_.factors[at]));
            }
            largest.push_back(most);
        }
        const auto at = static_cast<std::ptrdiff_t>((1.0 - wild_share) *
                                                    static_cast<double>(largest.size() - 1));
        std::nth_element(largest.begin(), largest.begin() + at, largest.end());
        const double range = largest[static_cast<std::size_t>(at)];
        const double step_wanted = range / loop_.levels;
        // rows nearer than this have keys that lost their digits, and bytes would know better
        step_ = step_wanted >= Form::least_step && std::isfinite(step_wanted) ? step_wanted : 1.0;
    }

    // The whole numbers of a row, and what rounding left.
    template <class U>
    Rounded round(const U* row, Scratch& scratch) const {
        const auto m = static_cast<std::size_t>(rows_.m);
        scratch.z.resize(m);
        scratch.whole.resize(m);
        for (std::size_t j = 0; j < m; ++j) {
            scratch.z[j] = (static_cast<double>(row[j]) - center_[j]) * metric_.factors[j];
        }
        return Form::round(scratch.z.data(), rows_.m, step_, loop_.levels, scratch.whole.data());
    }

    void round_rows(Workers& workers) {
        bytes_.assign(static_cast<std::size_t>(n_panels_ * panel_rows * row_bytes()),
                      loop_.row_byte(0));
        base_.assign(static_cast<std::size_t>(n_panels_ * panel_rows), Form::wild_base);
        std::vector<double> errors(static_cast<std::size_t>(n_panels_), 0.0);
        std::vector<std::vector<std::int64_t>> wild(static_cast<std::size_t>(n_panels_));
        std::vector<Scratch> scratches(static_cast<std::size_t>(workers.size()));
        workers.run(n_panels_, [&](std::int64_t p, int worker) {
            const auto at = static_cast<std::size_t>(p);
            Scratch& scratch = scratches[static_cast<std::size_t>(worker)];
            std::uint8_t* panel = bytes_.data() + p * panel_rows * row_bytes();
            for (std::int64_t i = p * panel_rows; i < std::min((p + 1) * panel_rows, rows_.n);
                 ++i) {
                const Rounded rounded = round(rows_.row(i), scratch);
                scratch.whole.resize(static_cast<std::size_t>(row_bytes()), 0);
                std::uint8_t* mine = panel + (i - p * panel_rows) * loop_.group;
                for (std::int64_t g = 0; g < groups_; ++g, mine += loop_.group * panel_rows) {
                    for (std::int64_t c = 0; c < loop_.group; ++c) {
                        mine[c] = loop_.row_byte(
                            scratch.whole[static_cast<std::size_t>(g * loop_.group + c)]);
                    }
                }
                if (rounded.wild) {
                    wild[at].push_back(i);
                } else {
                    base_[static_cast<std::size_t>(i)] = Form::base(rounded.squares);
                    errors[at] = std::max(errors[at], rounded.error);
                }
            }
        });
        for (const double error : errors) error_ = std::max(error_, error);
        for (const auto& some : wild) wild_.insert(wild_.end(), some.begin(), some.end());
    }

    template <class Poll>
    void pass(const Queries& queries, std::int64_t from, std::int64_t to, const Nearest& out,
              char* lost, const Poll& poll) const {
        std::vector<Asked> asked;
        std::vector<std::uint8_t> bytes;
        Scratch scratch;
        for (std::int64_t i = from; i < to; ++i) {
            lost[i] = !ask(queries, i, out, scratch, asked, bytes);
        }
        const auto n = static_cast<std::int64_t>(asked.size());
        // queries in groups of what the loop takes; where some are lacking, one that nothing passes
        const std::int64_t n_groups = (n + loop_.queries - 1) / loop_.queries;
        bytes.resize(static_cast<std::size_t>((n + 1) * row_bytes()), 0);
        std::vector<const std::uint8_t*> pointers;
        std::vector<std::int32_t> thresholds;
        for (std::int64_t q = 0; q < n_groups * loop_.queries; ++q) {
            pointers.push_back(bytes.data() + std::min(q, n) * row_bytes());
            thresholds.push_back(q < n ? threshold(asked[static_cast<std::size_t>(q)]) : never());
        }
        Passed passed;
        for (std::int64_t p = 0; p < n_panels_; ++p) {
            if (p % 64 == 0) poll();
            const Panel panel{bytes_.data() + p * panel_rows * row_bytes(),
                              base_.data() + p * panel_rows, groups_};
            for (std::int64_t g = 0; g < n_groups; ++g) {
                const std::int64_t first = g * loop_.queries;
                loop_.pass(panel, pointers.data() + first, thresholds.data() + first, passed);
                for (int q = 0; q < loop_.queries; ++q) {
                    if (!passed.masks[q]) continue;
                    Asked& one = asked[static_cast<std::size_t>(first + q)];
                    take(queries, one, p * panel_rows, passed.masks[q],
                         passed.sums + q * panel_rows);
                    thresholds[static_cast<std::size_t>(first + q)] = threshold(one);
                }
            }
        }
        for (Asked& one : asked) {
            if (one.lost) {
                lost[one.query] = 1;
            } else {
                finish(queries, one, out);
            }
        }
    }

    // Rounds a query. False where it is lost from the start: far beyond the range of the rows it
    // would let nearly all of them pass, and many neighbors or wild rows are as many to look at.
    bool ask(const Queries& queries, std::int64_t i, const Nearest& out, Scratch& scratch,
             std::vector<Asked>& asked, std::vector<std::uint8_t>& bytes) const {
        if (out.k + static_cast<std::int64_t>(wild_.size()) > most_looked()) return false;
        Asked one(out.k, i);
        one.rounded = round(queries.numbers.row(i), scratch);
        if (!(one.rounded.error <= 4.0 * error_ + 4.0)) return false;
        scratch.whole.resize(static_cast<std::size_t>(row_bytes()), 0);
        for (const std::int32_t a : scratch.whole) bytes.push_back(Form::query_byte(loop_, a));
        one.reach = 2.0 * (one.rounded.error + error_);
        asked.push_back(std::move(one));
        return true;
    }

    static std::int32_t never() {
        return Form::wild_base > 0 ? std::numeric_limits<std::int32_t>::min()
                                   : std::numeric_limits<std::int32_t>::max();
    }

    // What a sum must be, at least or at most, for the row to be within the limit.
    std::int32_t threshold(const Asked& one) const {
        constexpr auto least = std::numeric_limits<std::int32_t>::min();
        constexpr auto most = std::numeric_limits<std::int32_t>::max();
        if (one.lost) return never();
        if constexpr (std::is_same_v<Form, Manhattan>) {
            return one.limit < 0 || one.limit > most ? most : static_cast<std::int32_t>(one.limit);
        }
        if (one.limit < 0) return least;
        const std::int64_t twice = one.rounded.squares - one.limit;
        const std::int64_t half = twice >= 0 ? twice / 2 : -((-twice + 1) / 2);
        return static_cast<std::int32_t>(
            std::max<std::int64_t>(half + loop_.middle() * one.rounded.total, least));
    }

    std::int64_t apart(const Asked& one, std::int32_t sum) const {
        if constexpr (std::is_same_v<Form, Manhattan>) return sum;
        // half of a row's squares was rounded down, so that this may be one too little
        return one.rounded.squares + 2 * loop_.middle() * one.rounded.total -
               2 * static_cast<std::int64_t>(sum);
    }

    void take(const Queries& queries, Asked& one, std::int64_t start, std::uint64_t mask,
              const std::int32_t* sums) const {
        const std::int64_t excluded = queries.excluded(one.query);
        const auto k = static_cast<std::size_t>(std::min<std::int64_t>(one.best.k(), rows_.n));
        for (; mask; mask &= mask - 1) {
            const int r = std::countr_zero(mask);
            const std::int64_t position = start + r;
            if (base_[static_cast<std::size_t>(position)] == Form::wild_base ||
                position == excluded)
                continue;
            const std::int64_t distance = apart(one, sums[r]);
            if (one.limit >= 0 && distance > one.limit) continue;
            one.candidates.push_back({distance, position});
            if (one.near.size() < k) {
                one.near.push_back(distance);
                std::push_heap(one.near.begin(), one.near.end());
                if (one.near.size() == k) narrow(one);
            } else if (distance < one.near.front()) {
                std::pop_heap(one.near.begin(), one.near.end());
                one.near.back() = distance;
                std::push_heap(one.near.begin(), one.near.end());
                narrow(one);
            }
            if (one.candidates.size() < most_candidates) continue;
            settle(queries, one);
            one.lost = one.looked > most_looked();
            if (one.lost) return;
        }
    }

    // k rows are so near, at most; what is surely further is out. (S 82)
    void narrow(Asked& one) const {
        const double size =
            Form::size(static_cast<double>(std::max<std::int64_t>(one.near.front(), 0) + 1));
        lower(one, (size + one.reach) * (1.0 + slack));
    }
    static void lower(Asked& one, double size) {
        const double sum = Form::sum(size);
        if (sum >= 4e18) return;
        const auto limit = static_cast<std::int64_t>(sum) + 1;
        if (one.limit < 0 || limit < one.limit) one.limit = limit;
    }

    // Too many candidates: drop those that are out by now, or look at all of them.
    void settle(const Queries& queries, Asked& one) const {
        std::erase_if(one.candidates,
                      [&](const Candidate& c) { return one.limit >= 0 && c.apart > one.limit; });
        if (one.candidates.size() >= most_candidates / 2) look(queries, one);
    }

    // Keys of the candidates, nearest bytes first: keys of the first ones exclude most of the
    // others.
    void look(const Queries& queries, Asked& one) const {
        std::sort(one.candidates.begin(), one.candidates.end(),
                  [](const Candidate& a, const Candidate& b) {
                      return a.apart < b.apart || (a.apart == b.apart && a.position < b.position);
                  });
        std::vector<std::int64_t> positions;
        for (const Candidate& c : one.candidates) {
            if (one.limit >= 0 && c.apart > one.limit) break;
            positions.push_back(c.position);
            if (positions.size() < 8) continue;
            look(queries, one, positions);
            const double key = one.best.limit();
            if (std::isfinite(key)) {
                lower(one, (Form::size(key) / step_ + one.reach / 2.0) * (1.0 + slack));
            }
        }
        look(queries, one, positions);
        one.candidates.clear();
    }

    // Offers the keys of some rows, and empties the list.
    void look(const Queries& queries, Asked& one, std::vector<std::int64_t>& positions) const {
        const std::int64_t excluded = queries.excluded(one.query);
        const T* rows[8];
        double keys[8];
        one.looked += static_cast<std::int64_t>(positions.size());
        for (std::size_t from = 0; from < positions.size(); from += 8) {
            const std::size_t n = std::min<std::size_t>(8, positions.size() - from);
            for (std::size_t r = 0; r < 8; ++r) {
                rows[r] = rows_.row(positions[from + std::min(r, n - 1)]);
            }
            keys_of(typename Form::Term{}, rows, rows_.m, queries.numbers.row(one.query),
                    metric_.factors.data(), keys);
            for (std::size_t r = 0; r < n; ++r) {
                if (positions[from + r] != excluded) one.best.offer(keys[r], positions[from + r]);
            }
        }
        positions.clear();
    }

    void finish(const Queries& queries, Asked& one, const Nearest& out) const {
        look(queries, one);
        std::vector<std::int64_t> wild = wild_;
        look(queries, one, wild);
        one.best.write(out, one.query);
    }

    NumberRows<T> rows_;
    Metric metric_;
    ByteLoop loop_;
    std::int64_t groups_, n_panels_;
    std::vector<double> center_;
    double step_ = 1.0;
    double error_ = 0.0;  // the largest of a row that is not wild, in steps
    std::vector<std::uint8_t> bytes_;
    std::vector<std::int32_t> base_;
    std::vector<std::int64_t> wild_;
};

}  // namespace

template <class T>
std::unique_ptr<Index> byte_index(NumberRows<T> rows, Metric metric, Workers& workers, int wide) {
    if (metric.power == 2.0) {
        return std::make_unique<ByteIndex<T, Euclidean>>(rows, std::move(metric), workers, wide);
    }
    return std::make_unique<ByteIndex<T, Manhattan>>(rows, std::move(metric), workers, wide);
}
template std::unique_ptr<Index> byte_index(NumberRows<float>, Metric, Workers&, int);
template std::unique_ptr<Index> byte_index(NumberRows<double>, Metric, Workers&, int);

}  // namespace sortal::neighbors
