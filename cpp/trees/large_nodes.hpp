// Large nodes: nodes of many rows, searched by tables of counts by code and class.
//
// A child's table is counted, or is what its siblings leave of the parent's. The rows of a node
// stand together and in their first order, so that reading them runs through memory in one
// direction.
#pragma once

#include "trees/node_search.hpp"

namespace sortal::trees {

// Rows in the order of nodes, and their labels.
struct RowOrder {
    std::vector<std::uint32_t> rows;
    std::vector<Label> labels;
};

// Categories of more values than this are counted by sorting a node's codes, without a table.
constexpr std::int64_t table_values = 4096;

template <class Cell>
struct LargeNode {
    std::int64_t begin, end;
    std::int64_t id;
    std::vector<Cell> table;  // empty: not counted so far

    std::int64_t n_rows() const { return end - begin; }
};

// A worker's memory.
struct LargeNodeScratch {
    struct Item {
        double x;
        std::uint32_t row;
    };
    std::vector<std::int64_t> before, inside;
    std::vector<std::vector<Item>> items;
    std::vector<std::int64_t> starts;  // units before each bin that is sorted
    std::vector<std::int64_t> sizes;   // size before it
    std::vector<double> bounds;
    std::vector<std::int64_t> which;  // the bins that are sorted
    std::vector<std::uint32_t> rows;
    std::vector<Label> labels;
    std::vector<std::int32_t> branch_of;
    std::vector<std::uint64_t> pairs;
    Scratch subsets;
};

template <class M, class Cell>
class LargeNodes {
  public:
    LargeNodes(const FitContext<M>& context, RowOrder& order) : context_(context), order_(order) {
        const std::int64_t K = context.n_classes();
        width_ = K + (context.counts_rows() ? 1 : 0);
        std::int64_t cells = 0;
        for (std::int64_t j = 0; j < context.n_columns(); ++j) {
            const std::int64_t codes = n_codes(j);
            const bool tabled = context.column(j).kind == Kind::cut || codes <= table_values;
            at_.push_back(tabled ? cells : -1);
            if (tabled) cells += codes * width_;
        }
        n_cells_ = cells;
        found_.resize(context.columns.size());
        active_.resize(context.columns.size());
        std::iota(active_.begin(), active_.end(), 0);
    }

    std::int64_t n_cells() const { return n_cells_; }

    // Counts the rows of a large node into its table.
    void count(LargeNode<Cell>& large, Workers* workers) const {
        large.table.assign(static_cast<std::size_t>(n_cells_), Cell{0});
        each_column(workers, large.n_rows(), [&](std::int64_t j, int) { count_column(large, j); });
    }

    // The node's test, noted in `growing`; false where there is none.
    bool search(const LargeNode<Cell>& large, GrowingNodes& growing, Workers* workers,
                std::vector<LargeNodeScratch>& scratch);

    // Parts the rows of a node by its test and makes its children.
    std::vector<LargeNode<Cell>> split(const LargeNode<Cell>& large, GrowingNodes& growing,
                                       LargeNodeScratch& scratch);

    // The tables of those children that `wanted` names; the parent's table is used up.
    void count_children(LargeNode<Cell>& parent, std::vector<LargeNode<Cell>>& children,
                        const std::vector<bool>& wanted, Workers* workers) const;

  private:
    template <class F>
    void each_column(Workers* workers, std::int64_t n_rows, F f) const {
        const std::int64_t d = context_.n_columns();
        // waking a thread takes as long as counting some thousand rows
        if (workers && n_rows * d > 100'000) {
            workers->run(d, f);
        } else {
            for (std::int64_t j = 0; j < d; ++j) f(j, 0);
        }
    }
    std::int64_t n_codes(std::int64_t j) const {
        return context_.coded.n_codes[static_cast<std::size_t>(j)];
    }
    // f(codes) with the type in which column j's codes are kept
    template <class F>
    auto with_codes(std::int64_t j, F f) const {
        const auto& bytes = context_.coded.bytes[static_cast<std::size_t>(j)];
        const auto& words = context_.coded.words[static_cast<std::size_t>(j)];
        if (!bytes.empty()) return f(bytes.data());
        if (!words.empty()) return f(words.data());
        return f(context_.column(j).codes);
    }
    // n_vi of (ZM 19.19), v being a category or a bin
    void count_column(LargeNode<Cell>& large, std::int64_t j) const {
        const std::int64_t at = at_[static_cast<std::size_t>(j)];
        if (at < 0) return;
        Cell* cells = large.table.data() + at;
        const std::uint32_t* rows = order_.rows.data() + large.begin;
        const Label* labels = order_.labels.data() + large.begin;
        const std::int64_t n = large.n_rows(), width = width_, K = context_.n_classes();
        with_codes(j, [&](auto codes) {
            if (!context_.rows.units) {
                for (std::int64_t i = 0; i < n; ++i) ++cells[codes[rows[i]] * width + labels[i]];
                return;
            }
            for (std::int64_t i = 0; i < n; ++i) {
                Cell* cell = cells + codes[rows[i]] * width;
                cell[labels[i]] += static_cast<Cell>(context_.rows.units[rows[i]]);
                if (width > K) cell[K] += static_cast<Cell>(context_.size(rows[i]));
            }
        });
    }
    void gather_values(const LargeNode<Cell>& large, std::int64_t j, LargeNodeScratch& s);
    void list_values(const LargeNode<Cell>& large, std::int64_t j, Found& found) const;
    void sort_values(const LargeNode<Cell>& large, std::int64_t j, Found& found,
                     LargeNodeScratch& s) const;
    void read_missing(const LargeNode<Cell>& large, const Whole& w, std::int64_t j,
                      Found& found) const;
    void scan_edges(const LargeNode<Cell>& large, const Whole& w, std::int64_t j, bool careful,
                    LargeNodeScratch& s);
    void scan_edges(const LargeNode<Cell>& large, const Whole& w, std::int64_t j, bool careful,
                    bool missing_yes, LargeNodeScratch& s);
    void refine(const LargeNode<Cell>& large, const Whole& w, std::int64_t j, double floor,
                bool careful, LargeNodeScratch& s);
    void refine(const LargeNode<Cell>& large, const Whole& w, std::int64_t j, double floor,
                bool careful, bool missing_yes, LargeNodeScratch& s);
    void start_side(const Found& found, bool missing_yes, LargeNodeScratch& s, std::int64_t& n_yes,
                    std::int64_t& size_yes) const;
    void scan_bin(const Whole& w, std::int64_t j, std::size_t slot, bool careful, bool missing_yes,
                  LargeNodeScratch& s);
    void look_at_cut(const LargeNode<Cell>& large, const Whole& w, std::int64_t j,
                     LargeNodeScratch& s);
    void look_carefully(const LargeNode<Cell>& large, const Whole& w, std::int64_t j,
                        LargeNodeScratch& s);
    // Whether a column's missing values in the node are tried on both sides of its cuts.
    bool both_sides(const Found& found) const { return context_.by_side() && found.missing.n > 0; }
    // How many bins hold the values that are scanned: with missing values on the no side, theirs
    // comes last.
    std::int64_t n_scanned(std::int64_t j, const Found& found, bool missing_yes) const {
        const bool with_missing = both_sides(found) && !missing_yes;
        return n_codes(j) - (context_.column(j).has_missing && !with_missing ? 1 : 0);
    }
    std::vector<double>& edge_keys(Found& found, bool missing_yes) const {
        return missing_yes ? found.edge_keys_yes : found.edge_keys;
    }
    Verdict search_once(const LargeNode<Cell>& large, const Whole& w, bool careful,
                        Workers* workers, std::vector<LargeNodeScratch>& scratch);
    void find_neighbors(const LargeNode<Cell>& large, std::int64_t j, CutRecord& record) const;
    bool allowed(const Whole& w, std::int64_t size, std::int64_t n_yes,
                 std::int64_t size_yes) const {
        const Limits& limits = context_.options;
        return limits.allow(n_yes, size_yes) && limits.allow(w.n - n_yes, size - size_yes);
    }
    void mark_branches(const GrowingNode& node, const GrowingNodes& growing,
                       LargeNodeScratch& s) const {
        s.branch_of.assign(static_cast<std::size_t>(n_codes(node.attribute)), 0);
        const std::int64_t missing = context_.missing_code(node.attribute);
        if (missing >= 0) {
            s.branch_of[static_cast<std::size_t>(missing)] = std::max(node.missing, 0);
        }
        for (std::int64_t v = node.value_start; v < node.value_start + node.n_values; ++v) {
            const auto at = static_cast<std::size_t>(v);
            s.branch_of[static_cast<std::size_t>(growing.values[at])] = growing.branches[at];
        }
    }
    // Parts the rows of a node and their labels.
    template <class B>
    void part_rows(const LargeNode<Cell>& large, std::int64_t n_parts, B branch_of,
                   LargeNodeScratch& s, std::vector<std::int64_t>& stops) {
        const auto n = static_cast<std::size_t>(large.n_rows());
        if (s.rows.size() < n) {
            s.rows.resize(n);
            s.labels.resize(n);
        }
        part_lists(large.begin, large.end, n_parts, branch_of, stops,
                   List{order_.rows.data(), s.rows.data()},
                   List{order_.labels.data(), s.labels.data()});
    }

    const FitContext<M>& context_;
    RowOrder& order_;
    std::int64_t width_ = 0, n_cells_ = 0;
    std::vector<std::int64_t> at_;  // where a column's table begins; -1: it has none
    std::vector<Found> found_;
    std::vector<std::int32_t> active_;
    std::vector<Candidate> candidates_;
    std::int64_t size_ = 0;  // of the node that is searched
};

template <class M, class Cell>
std::vector<LargeNode<Cell>> LargeNodes<M, Cell>::split(const LargeNode<Cell>& large,
                                                        GrowingNodes& growing,
                                                        LargeNodeScratch& s) {
    const GrowingNode node = growing.at(large.id);
    std::vector<std::int64_t> stops;
    if (node.kind == Kind::cut) {
        const Column<double> x = context_.column(node.attribute).numbers;
        const double v = node.threshold;
        const auto at = static_cast<std::size_t>(node.attribute);
        const std::uint8_t* codes = context_.coded.bytes[at].data();
        const auto& edges = context_.coded.bins[at].edges;
        // only rows in the threshold's own bin have to be read
        const auto bin = std::lower_bound(edges.begin(), edges.end(), v) - edges.begin();
        const auto branch = [&](std::uint32_t row) {
            return codes[row] < bin ? 0 : codes[row] > bin ? 1 : x[row] <= v ? 0 : 1;
        };
        const std::int64_t missing = context_.missing_code(node.attribute);
        if (node.missing == no_missing) {
            part_rows(large, 2, branch, s, stops);
        } else {
            const auto with_missing = [&](std::uint32_t row) {
                return codes[row] == missing ? node.missing : branch(row);
            };
            part_rows(large, node.n_children, with_missing, s, stops);
        }
    } else {
        mark_branches(node, growing, s);
        const std::int64_t n_parts = node.n_children;
        with_codes(node.attribute, [&](auto codes) {
            const auto branch = [&](std::uint32_t row) {
                return s.branch_of[static_cast<std::size_t>(codes[row])];
            };
            part_rows(large, n_parts, branch, s, stops);
        });
    }
    const auto n_parts = static_cast<std::int64_t>(stops.size());
    const std::int64_t first = growing.add(n_parts, node.depth + 1);
    growing.at(large.id).first_child = first;
    growing.at(large.id).n_children = n_parts;
    std::vector<LargeNode<Cell>> children;
    std::int64_t begin = large.begin;
    for (std::int64_t b = 0; b < n_parts; ++b) {
        const std::int64_t end = stops[static_cast<std::size_t>(b)];
        std::int64_t* counts = growing.counts(first + b);
        std::int64_t size = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<std::size_t>(i);
            counts[order_.labels[at]] += context_.unit(order_.rows[at]);
            size += context_.size(order_.rows[at]);
        }
        growing.at(first + b).size = size;
        children.push_back({begin, end, first + b, {}});
        begin = end;
    }
    weigh_branches(growing, large.id);
    return children;
}

template <class M, class Cell>
void LargeNodes<M, Cell>::count_children(LargeNode<Cell>& parent,
                                         std::vector<LargeNode<Cell>>& children,
                                         const std::vector<bool>& wanted, Workers* workers) const {
    std::size_t largest = 0;
    std::int64_t direct = 0;
    for (std::size_t b = 0; b < children.size(); ++b) {
        if (children[b].n_rows() > children[largest].n_rows()) largest = b;
        if (wanted[b]) direct += children[b].n_rows();
    }
    const std::int64_t others = parent.n_rows() - children[largest].n_rows();
    // beyond a few children their tables cost more than counting the largest
    const bool subtract =
        wanted[largest] && others <= direct && children.size() <= 4 && !parent.table.empty();
    for (std::size_t b = 0; b < children.size(); ++b) {
        if (subtract ? b != largest : static_cast<bool>(wanted[b])) count(children[b], workers);
    }
    if (!subtract) return;
    std::vector<Cell>& table = children[largest].table;
    table = std::move(parent.table);
    for (std::size_t b = 0; b < children.size(); ++b) {
        if (b == largest) continue;
        const Cell* other = children[b].table.data();
        for (std::size_t c = 0; c < table.size(); ++c) table[c] -= other[c];
        if (!wanted[b]) children[b].table = {};
    }
}

}  // namespace sortal::trees
