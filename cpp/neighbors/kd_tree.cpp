// A kd-tree: rows halved again and again along the widest column, down to leaves of a few rows.
//
// All leaves but the last are full, so that the shape follows from their number: a node of L leaves
// has 2L - 1 nodes in preorder, its left part the first half of the leaves, rounded up. Every node
// has the smallest box that holds its rows; a node is passed over where the box lies beyond the
// limit.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/portable.hpp"
#include "neighbors/distance_keys.hpp"
#include "neighbors/neighbors.hpp"

namespace sortal::neighbors {
namespace {

// 200,000 x 3 and 50,000 queries, one thread, to build and to search: 16 rows a leaf took 115 ms,
// 24 took 106, 32 took 105, 48 took 112.
constexpr std::int64_t leaf_rows = 32;
constexpr std::int64_t query_block = 256;
constexpr std::int64_t many = 4096;        // queries whose leaves are looked up by one job
constexpr std::int64_t sample_rows = 256;  // of a node, to see which column is widest

template <class T>
using LeafSums = bool (*)(const T*, std::int64_t, const double*, const double*, double, double,
                          double*);
#define SORTAL_LEAF(Term, T)                                                               \
    SORTAL_CLONES bool leaf_##Term(const T* tile, std::int64_t m, const double* x,         \
                                   const double* f, double p, double limit, double* out) { \
        return tile_sums<Term, leaf_rows>(tile, m, x, f, p, limit, out);                   \
    }                                                                                      \
    LeafSums<T> leaf_sums(Term, T) { return leaf_##Term; }
#define SORTAL_LEAVES(Term) SORTAL_LEAF(Term, float) SORTAL_LEAF(Term, double)
SORTAL_EACH_TERM(SORTAL_LEAVES)
#undef SORTAL_LEAVES
#undef SORTAL_LEAF

// The least key that a row in a box can have, but for rounding. (S 81)
template <class Term>
double box_key(const double* low, const double* high, const double* x, const double* factors,
               std::int64_t m, double p) {
    const auto term = [&](std::int64_t i) {
        const double below = low[i] - x[i], above = x[i] - high[i];
        const double gap = below > above ? below : above;
        return (gap > 0 ? gap : 0) * factors[i];
    };
    double sums[4] = {};
    std::int64_t j = 0;
    for (; j + 4 <= m; j += 4) {
        for (std::int64_t l = 0; l < 4; ++l) sums[l] = Term::add(sums[l], term(j + l), p);
    }
    for (; j < m; ++j) sums[0] = Term::add(sums[0], term(j), p);
    if constexpr (std::is_same_v<Term, Largest>) {
        return std::max(std::max(sums[0], sums[1]), std::max(sums[2], sums[3]));
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

struct Node {
    std::int64_t id;
    std::int64_t first;  // leaf
    std::int64_t count;  // of leaves
};
std::pair<Node, Node> halves(const Node& node) {
    const std::int64_t left = (node.count + 1) / 2;
    return {{node.id + 1, node.first, left},
            {node.id + 2 * left, node.first + left, node.count - left}};
}

template <class T>
class TreeSearch final : public Index {
  public:
    TreeSearch(NumberRows<T> rows, Metric metric, Workers& workers)
        : n_(rows.n), m_(rows.m), metric_(std::move(metric)),
          n_leaves_((rows.n + leaf_rows - 1) / leaf_rows),
          sums_(with_terms(metric_, [](auto terms) { return leaf_sums(terms, T{}); })) {
        // adding up in another order than keys do changes a bound by less than this
        slack_ = 1.0 - 4.0 * static_cast<double>(m_ + 4) * std::numeric_limits<double>::epsilon();
        build(rows, workers);
    }

    void search(const Queries& queries, const Nearest& out, Workers& workers) const override {
        const std::vector<std::int64_t> order = by_leaf(queries, workers);
        const std::int64_t n_jobs = (queries.size() + query_block - 1) / query_block;
        workers.run(n_jobs, [&](std::int64_t job, int worker) {
            const std::int64_t to = std::min((job + 1) * query_block, queries.size());
            Best best(out.k);
            Open open;
            for (std::int64_t q = job * query_block; q < to; ++q) {
                if (q % 16 == 0) workers.check(worker);
                const std::int64_t i = order[static_cast<std::size_t>(q)];
                best.clear();
                find(queries.numbers.row(i), queries.excluded(i), best, open);
                best.write(out, i);
            }
        });
    }

    // How many leaves are looked at for a query.
    std::int64_t leaves_met(const double* x, std::int64_t k) const {
        Best best(k);
        Open open;
        return find(x, -1, best, open);
    }
    std::int64_t n_leaves() const { return n_leaves_; }

  private:
    // Parts that are still to be looked at; there are fewer than levels. Written field by field:
    // copies of a record just written make the processor wait.
    struct Open {
        double bounds[64];
        std::int64_t ids[64], firsts[64], counts[64];
        int size = 0;

        void push(double bound, const Node& node) {
            bounds[size] = bound;
            ids[size] = node.id;
            firsts[size] = node.first;
            counts[size++] = node.count;
        }
    };

    const double* low(std::int64_t node) const { return boxes_.data() + node * 2 * m_; }
    const double* high(std::int64_t node) const { return low(node) + m_; }

    void build(const NumberRows<T>& rows, Workers& workers) {
        const auto n_nodes = static_cast<std::size_t>(2 * n_leaves_ - 1);
        order_.resize(static_cast<std::size_t>(n_));
        std::iota(order_.begin(), order_.end(), std::uint32_t{0});
        tiles_.resize(static_cast<std::size_t>(n_leaves_ * leaf_rows * m_));
        boxes_.resize(n_nodes * 2 * static_cast<std::size_t>(m_));
        cuts_.resize(n_nodes);
        // whole subtrees by one thread each, once there are enough of them
        std::vector<Node> above, parts{{0, 0, n_leaves_}};
        const auto each = [&](const auto& f) {
            workers.run(static_cast<std::int64_t>(parts.size()),
                        [&](std::int64_t i, int) { f(parts[static_cast<std::size_t>(i)]); });
        };
        while (static_cast<int>(parts.size()) < 8 * workers.size() && parts[0].count > 8) {
            each([&](const Node& node) { split(rows, node); });
            std::vector<Node> below;
            for (const Node& node : parts) {
                const auto [left, right] = halves(node);
                below.insert(below.end(), {left, right});
            }
            above.insert(above.end(), parts.begin(), parts.end());
            parts = std::move(below);
        }
        each([&](const Node& node) { grow(rows, node); });
        for (; !above.empty(); above.pop_back()) join(above.back());
    }

    struct Cut {
        std::int64_t column;
        double value;
    };

    void split(const NumberRows<T>& rows, const Node& node) {
        const std::int64_t begin = node.first * leaf_rows;
        const std::int64_t end = std::min((node.first + node.count) * leaf_rows, n_);
        const std::int64_t middle = halves(node).second.first * leaf_rows;
        const std::int64_t column = widest(rows, begin, end);
        struct Pair {
            T value;
            std::uint32_t row;
        };
        std::vector<Pair> pairs(static_cast<std::size_t>(end - begin));
        for (std::int64_t i = begin; i < end; ++i) {
            const std::uint32_t row = order_[static_cast<std::size_t>(i)];
            pairs[static_cast<std::size_t>(i - begin)] = {rows.row(row)[column], row};
        }
        std::nth_element(pairs.begin(), pairs.begin() + (middle - begin), pairs.end(),
                         [](const Pair& a, const Pair& b) { return a.value < b.value; });
        for (std::int64_t i = begin; i < end; ++i) {
            order_[static_cast<std::size_t>(i)] = pairs[static_cast<std::size_t>(i - begin)].row;
        }
        cuts_[static_cast<std::size_t>(node.id)] = {
            column, static_cast<double>(pairs[static_cast<std::size_t>(middle - begin)].value)};
    }

    std::int64_t widest(const NumberRows<T>& rows, std::int64_t begin, std::int64_t end) const {
        const std::int64_t step = std::max<std::int64_t>(1, (end - begin) / sample_rows);
        std::vector<T> least(static_cast<std::size_t>(m_)), most(static_cast<std::size_t>(m_));
        for (std::int64_t i = begin; i < end; i += step) {
            const T* row = rows.row(order_[static_cast<std::size_t>(i)]);
            for (std::int64_t j = 0; j < m_; ++j) {
                const auto at = static_cast<std::size_t>(j);
                least[at] = i == begin || row[j] < least[at] ? row[j] : least[at];
                most[at] = i == begin || row[j] > most[at] ? row[j] : most[at];
            }
        }
        std::int64_t best = 0;
        double width = -1.0;
        for (std::int64_t j = 0; j < m_; ++j) {
            const auto at = static_cast<std::size_t>(j);
            const double w = (static_cast<double>(most[at]) - static_cast<double>(least[at])) *
                             metric_.factors[at];
            if (w > width) {
                width = w;
                best = j;
            }
        }
        return best;
    }

    // A whole subtree, its boxes from the leaves up.
    void grow(const NumberRows<T>& rows, const Node& node) {
        if (node.count == 1) return fill(rows, node);
        split(rows, node);
        const auto [left, right] = halves(node);
        grow(rows, left);
        grow(rows, right);
        join(node);
    }

    void join(const Node& node) {
        const auto [left, right] = halves(node);
        double* out = boxes_.data() + node.id * 2 * m_;
        for (std::int64_t j = 0; j < m_; ++j) {
            out[j] = std::min(low(left.id)[j], low(right.id)[j]);
            out[m_ + j] = std::max(high(left.id)[j], high(right.id)[j]);
        }
    }

    // The rows of a leaf column by column; one that is not full repeats its last row.
    void fill(const NumberRows<T>& rows, const Node& node) {
        T* tile = tiles_.data() + node.first * leaf_rows * m_;
        double* box = boxes_.data() + node.id * 2 * m_;
        const std::int64_t begin = node.first * leaf_rows;
        for (std::int64_t r = 0; r < leaf_rows; ++r) {
            const T* row = rows.row(order_[static_cast<std::size_t>(std::min(begin + r, n_ - 1))]);
            for (std::int64_t j = 0; j < m_; ++j) {
                const auto value = static_cast<double>(row[j]);
                tile[j * leaf_rows + r] = row[j];
                box[j] = r == 0 ? value : std::min(box[j], value);
                box[m_ + j] = r == 0 ? value : std::max(box[m_ + j], value);
            }
        }
    }

    // Queries that end in the same leaf one after the other: what they read is in the cache.
    std::vector<std::int64_t> by_leaf(const Queries& queries, Workers& workers) const {
        std::vector<std::pair<std::int64_t, std::int64_t>> at(
            static_cast<std::size_t>(queries.size()));
        workers.run((queries.size() + many - 1) / many, [&](std::int64_t job, int) {
            for (std::int64_t i = job * many; i < std::min((job + 1) * many, queries.size()); ++i) {
                at[static_cast<std::size_t>(i)] = {leaf_of(queries.numbers.row(i)), i};
            }
        });
        std::sort(at.begin(), at.end());
        std::vector<std::int64_t> order;
        order.reserve(at.size());
        for (const auto& [first, i] : at) order.push_back(i);
        return order;
    }
    std::int64_t leaf_of(const double* x) const {
        Node node{0, 0, n_leaves_};
        while (node.count > 1) {
            const Cut& cut = cuts_[static_cast<std::size_t>(node.id)];
            const auto [left, right] = halves(node);
            node = x[cut.column] < cut.value ? left : right;
        }
        return node.first;
    }

    // Nearer parts first. Returns how many leaves were looked at.
    std::int64_t find(const double* x, std::int64_t excluded, Best& best, Open& open) const {
        return with_terms(metric_,
                          [&]<class Term>(Term) { return walk<Term>(x, excluded, best, open); });
    }
    template <class Term>
    std::int64_t walk(const double* x, std::int64_t excluded, Best& best, Open& open) const {
        const auto bound = [&](std::int64_t node) {
            return slack_ * box_key<Term>(low(node), high(node), x, metric_.factors.data(), m_,
                                          metric_.power);
        };
        std::int64_t met = 0;
        open.size = 0;
        open.push(0.0, {0, 0, n_leaves_});
        while (open.size > 0) {
            const int last = --open.size;
            double least = open.bounds[last];
            Node node{open.ids[last], open.firsts[last], open.counts[last]};
            while (node.count > 1 && least <= best.limit()) {
                auto [near, far] = halves(node);
                double near_key = bound(near.id), far_key = bound(far.id);
                if (far_key < near_key) {
                    std::swap(near, far);
                    std::swap(near_key, far_key);
                }
                if (far_key <= best.limit()) open.push(far_key, far);
                node = near;
                least = near_key;
            }
            if (least > best.limit()) continue;
            look(x, node.first, excluded, best);
            ++met;
        }
        return met;
    }

    void look(const double* x, std::int64_t leaf, std::int64_t excluded, Best& best) const {
        double keys[leaf_rows];
        const double limit = best.limit();
        if (!sums_(tiles_.data() + leaf * leaf_rows * m_, m_, x, metric_.factors.data(),
                   metric_.power, limit, keys)) {
            return;
        }
        const std::int64_t n = std::min(leaf_rows, n_ - leaf * leaf_rows);
        for (std::int64_t r = 0; r < n; ++r) {
            if (keys[r] > limit) continue;
            const std::int64_t row = order_[static_cast<std::size_t>(leaf * leaf_rows + r)];
            if (row != excluded) best.offer(keys[r], row);
        }
    }

    std::int64_t n_, m_;
    Metric metric_;
    std::int64_t n_leaves_;
    LeafSums<T> sums_;
    double slack_;
    std::vector<std::uint32_t> order_;  // half of what 64 bits would have to be moved about
    std::vector<T> tiles_;
    std::vector<double> boxes_;
    std::vector<Cut> cuts_;
};

}  // namespace

template <class T>
std::unique_ptr<Index> tree_index(NumberRows<T> rows, Metric metric, Workers& workers) {
    return std::make_unique<TreeSearch<T>>(rows, std::move(metric), workers);
}

template <class T>
double tree_visits(NumberRows<T> rows, std::int64_t step, const Metric& metric, std::int64_t k,
                   std::int64_t n_queries) {
    std::vector<T> some;
    for (std::int64_t i = 0; i < rows.n; i += step) {
        some.insert(some.end(), rows.row(i), rows.row(i) + rows.m);
    }
    const NumberRows<T> sample{some.data(), static_cast<std::int64_t>(some.size()) / rows.m,
                               rows.m};
    Workers alone(1, [] {});
    const TreeSearch<T> tree(sample, metric, alone);
    std::vector<double> x(static_cast<std::size_t>(rows.m));
    std::int64_t met = 0;
    for (std::int64_t q = 0; q < n_queries; ++q) {
        const T* row = sample.row(q * sample.n / n_queries);
        std::copy(row, row + rows.m, x.begin());
        met += tree.leaves_met(x.data(), k);
    }
    return static_cast<double>(met) / static_cast<double>(n_queries * tree.n_leaves());
}

template std::unique_ptr<Index> tree_index(NumberRows<float>, Metric, Workers&);
template std::unique_ptr<Index> tree_index(NumberRows<double>, Metric, Workers&);
template double tree_visits(NumberRows<float>, std::int64_t, const Metric&, std::int64_t,
                            std::int64_t);
template double tree_visits(NumberRows<double>, std::int64_t, const Metric&, std::int64_t,
                            std::int64_t);

}  // namespace sortal::neighbors
