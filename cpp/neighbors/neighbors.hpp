// Nearest rows: what all searches share.
//
// Words
//   row        one of the rows among which neighbors are found; its position is its place there
//   query      a row whose neighbors are wanted
//   term       |x - t| * factor of one number column
//   key        what orders rows: the sum of the terms to a power, or the largest term, and the
//              number of code columns that differ; times n_columns / known where there are
//              missing values
//   limit      the largest key that a row may have to be among the k nearest so far
//
// Every search finds the k rows that come first in the order of (key, position). Keys are float64
// and always added up in the order of the columns, so that all searches give the same bits. A
// search may leave a row out only where a bound shows that its key lies above the limit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/workers.hpp"
#include "neighbors/distance_keys.hpp"

namespace sortal::neighbors {

// Rows one after the other; NaN is a missing value.
template <class T>
struct NumberRows {
    const T* data;
    std::int64_t n;
    std::int64_t m;

    const T* row(std::int64_t i) const { return data + i * m; }
};

// Negative: a missing value among the rows. Of queries -1 is a missing value, and -2 differs from
// every code.
struct CodeRows {
    const std::int32_t* data;
    std::int64_t n;
    std::int64_t c;

    const std::int32_t* row(std::int64_t i) const { return data + i * c; }
};

struct Queries {
    NumberRows<double> numbers;
    CodeRows codes;
    const std::int64_t* exclude;  // a position that is not to be found, or null

    std::int64_t size() const { return numbers.n; }
    std::int64_t excluded(std::int64_t i) const { return exclude ? exclude[i] : -1; }
};

// Where answers go: k keys and positions a query, ascending, infinity and -1 where there are fewer.
struct Nearest {
    std::int64_t k;
    double* keys;
    std::int64_t* positions;
};

// The k rows so far that come first. (S 72)
class Best {
  public:
    explicit Best(std::int64_t k) : k_(static_cast<std::size_t>(k)) { rows_.reserve(k_); }

    double limit() const {
        return rows_.size() < k_ ? std::numeric_limits<double>::infinity() : rows_.front().key;
    }
    // A key that is infinite is no neighbor's.
    void offer(double key, std::int64_t position) {
        const Row row{key, position};
        if (rows_.size() < k_) {
            if (key == std::numeric_limits<double>::infinity()) return;
            rows_.push_back(row);
            std::push_heap(rows_.begin(), rows_.end());
        } else if (row < rows_.front()) {
            replace_front(row);
        }
    }
    void clear() { rows_.clear(); }
    std::int64_t k() const { return static_cast<std::int64_t>(k_); }
    // Sorts what was found into the answers of query i.
    void write(const Nearest& out, std::int64_t i) {
        std::sort_heap(rows_.begin(), rows_.end());
        double* keys = out.keys + i * out.k;
        std::int64_t* positions = out.positions + i * out.k;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            keys[r] = rows_[r].key;
            positions[r] = rows_[r].position;
        }
        for (std::size_t r = rows_.size(); r < k_; ++r) {
            keys[r] = std::numeric_limits<double>::infinity();
            positions[r] = -1;
        }
    }

  private:
    struct Row {
        double key;
        std::int64_t position;
        bool operator<(const Row& other) const {
            return key < other.key || (key == other.key && position < other.position);
        }
    };

    // One way down the heap, where pop and push would take two.
    void replace_front(const Row& row) {
        std::size_t at = 0;
        for (std::size_t child = 1; child < k_; child = 2 * at + 1) {
            if (child + 1 < k_ && rows_[child] < rows_[child + 1]) ++child;
            if (!(row < rows_[child])) break;
            rows_[at] = rows_[child];
            at = child;
        }
        rows_[at] = row;
    }

    std::size_t k_;
    std::vector<Row> rows_;
};

// A search over rows that stay where they are.
class Index {
  public:
    virtual ~Index() = default;
    virtual void search(const Queries& queries, const Nearest& out, Workers& workers) const = 0;
};

// scan.cpp: every row, any metric, with missing values and codes.
template <class T>
std::unique_ptr<Index> scan_index(NumberRows<T> numbers, CodeRows codes, Metric metric);

// kd_tree.cpp: a kd-tree of numbers without missing values, any power.
template <class T>
std::unique_ptr<Index> tree_index(NumberRows<T> numbers, Metric metric, Workers& workers);
// The share of its rows that a tree of every step-th row looks at, for n_queries of these rows.
template <class T>
double tree_visits(NumberRows<T> numbers, std::int64_t step, const Metric& metric, std::int64_t k,
                   std::int64_t n_queries);

// byte_bounds.cpp: numbers without missing values, power 1 or 2, rounded to bytes that bound every
// distance.
template <class T>
std::unique_ptr<Index> byte_index(NumberRows<T> numbers, Metric metric, Workers& workers, int wide);

// bit_counts.cpp: codes alone, without missing values among the rows. Column j has codes below
// sizes[j].
std::unique_ptr<Index> bit_index(CodeRows codes, const std::vector<std::int64_t>& sizes, int wide);

}  // namespace sortal::neighbors
