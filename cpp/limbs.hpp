// Limbs: nodes of many rows, searched by tables of counts by code and class.
//
// A child's table is counted, or is what its siblings leave of the parent's. The rows of a node stand
// together and in their first order, so that reading them runs through memory in one direction.
#pragma once

#include <cstring>

#include "growth.hpp"

namespace sortal {

// Rows in the order of nodes, and their labels.
struct Order {
    std::vector<std::uint32_t> rows;
    std::vector<Label> labels;
};

// Categories of more values than this are counted by sorting a node's codes, without a table.
constexpr std::int64_t table_values = 4096;

template <class Cell>
struct Limb {
    std::int64_t begin, end;
    std::int64_t id;
    std::vector<Cell> table;  // empty: not counted so far

    std::int64_t n_rows() const { return end - begin; }
};

// A worker's memory.
struct LimbScratch {
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
class Limbs {
  public:
    Limbs(const Field<M>& field, Order& order) : field_(field), order_(order) {
        const std::int64_t K = field.n_classes();
        width_ = K + (field.counts_rows() ? 1 : 0);
        std::int64_t cells = 0;
        for (std::int64_t j = 0; j < field.n_columns(); ++j) {
            const std::int64_t codes = n_codes(j);
            const bool tabled = field.column(j).kind == Kind::cut || codes <= table_values;
            at_.push_back(tabled ? cells : -1);
            if (tabled) cells += codes * width_;
        }
        n_cells_ = cells;
        found_.resize(field.columns.size());
        active_.resize(field.columns.size());
        std::iota(active_.begin(), active_.end(), 0);
    }

    std::int64_t n_cells() const { return n_cells_; }

    // Counts the rows of a limb into its table.
    void count(Limb<Cell>& limb, Workers* workers) const {
        limb.table.assign(static_cast<std::size_t>(n_cells_), Cell{0});
        each_column(workers, limb.n_rows(), [&](std::int64_t j, int) { count_column(limb, j); });
    }

    // The node's test, noted in its sprout; false where there is none.
    bool search(const Limb<Cell>& limb, Sprouts& sprouts, Workers* workers,
                std::vector<LimbScratch>& scratch);

    // Parts the rows of a node by its test and makes its children.
    std::vector<Limb<Cell>> split(const Limb<Cell>& limb, Sprouts& sprouts, LimbScratch& scratch);

    // The tables of those children that `wanted` names; the parent's table is used up.
    void count_children(Limb<Cell>& parent, std::vector<Limb<Cell>>& children,
                        const std::vector<bool>& wanted, Workers* workers) const;

  private:
    template <class F>
    void each_column(Workers* workers, std::int64_t n_rows, F f) const {
        const std::int64_t d = field_.n_columns();
        // waking a thread takes as long as counting some thousand rows
        if (workers && n_rows * d > 100'000) {
            workers->run(d, f);
        } else {
            for (std::int64_t j = 0; j < d; ++j) f(j, 0);
        }
    }
    std::int64_t n_codes(std::int64_t j) const {
        return field_.coded.n_codes[static_cast<std::size_t>(j)];
    }
    // f(codes) with the type in which column j's codes are kept
    template <class F>
    auto with_codes(std::int64_t j, F f) const {
        const auto& bytes = field_.coded.bytes[static_cast<std::size_t>(j)];
        const auto& words = field_.coded.words[static_cast<std::size_t>(j)];
        if (!bytes.empty()) return f(bytes.data());
        if (!words.empty()) return f(words.data());
        return f(field_.column(j).codes);
    }
    // n_vi of (ZM 19.19), v being a category or a bin
    void count_column(Limb<Cell>& limb, std::int64_t j) const {
        const std::int64_t at = at_[static_cast<std::size_t>(j)];
        if (at < 0) return;
        Cell* cells = limb.table.data() + at;
        const std::uint32_t* rows = order_.rows.data() + limb.begin;
        const Label* labels = order_.labels.data() + limb.begin;
        const std::int64_t n = limb.n_rows(), width = width_, K = field_.n_classes();
        with_codes(j, [&](auto codes) {
            if (!field_.rows.units) {
                for (std::int64_t i = 0; i < n; ++i) ++cells[codes[rows[i]] * width + labels[i]];
                return;
            }
            for (std::int64_t i = 0; i < n; ++i) {
                Cell* cell = cells + codes[rows[i]] * width;
                cell[labels[i]] += static_cast<Cell>(field_.rows.units[rows[i]]);
                if (width > K) cell[K] += static_cast<Cell>(field_.size(rows[i]));
            }
        });
    }
    void gather_values(const Limb<Cell>& limb, std::int64_t j, LimbScratch& s);
    void list_values(const Limb<Cell>& limb, std::int64_t j, Found& found) const;
    void sort_values(const Limb<Cell>& limb, std::int64_t j, Found& found, LimbScratch& s) const;
    void read_holes(const Limb<Cell>& limb, const Whole& w, std::int64_t j, Found& found) const;
    void scan_edges(const Limb<Cell>& limb, const Whole& w, std::int64_t j, bool careful,
                    LimbScratch& s);
    void scan_edges(const Limb<Cell>& limb, const Whole& w, std::int64_t j, bool careful,
                    bool holes_yes, LimbScratch& s);
    void refine(const Limb<Cell>& limb, const Whole& w, std::int64_t j, double floor, bool careful,
                LimbScratch& s);
    void refine(const Limb<Cell>& limb, const Whole& w, std::int64_t j, double floor, bool careful,
                bool holes_yes, LimbScratch& s);
    void start_side(const Found& found, bool holes_yes, LimbScratch& s, std::int64_t& n_yes,
                    std::int64_t& size_yes) const;
    void scan_bin(const Whole& w, std::int64_t j, std::size_t slot, bool careful, bool holes_yes,
                  LimbScratch& s);
    void look_at_cut(const Limb<Cell>& limb, const Whole& w, std::int64_t j, LimbScratch& s);
    void look_carefully(const Limb<Cell>& limb, const Whole& w, std::int64_t j, LimbScratch& s);
    // Whether a column's holes in the node are tried on both sides of its cuts.
    bool both_sides(const Found& found) const { return field_.by_side() && found.holes.n > 0; }
    // How many bins hold the values that are scanned: with holes on the no side, theirs comes last.
    std::int64_t n_scanned(std::int64_t j, const Found& found, bool holes_yes) const {
        const bool with_holes = both_sides(found) && !holes_yes;
        return n_codes(j) - (field_.column(j).holes && !with_holes ? 1 : 0);
    }
    std::vector<double>& edge_keys(Found& found, bool holes_yes) const {
        return holes_yes ? found.edge_keys_yes : found.edge_keys;
    }
    Verdict search_once(const Limb<Cell>& limb, const Whole& w, bool careful, Workers* workers,
                        std::vector<LimbScratch>& scratch);
    void find_neighbors(const Limb<Cell>& limb, std::int64_t j, CutRecord& record) const;
    bool allowed(const Whole& w, std::int64_t size, std::int64_t n_yes,
                 std::int64_t size_yes) const {
        const Limits& limits = field_.growth.rules.limits;
        return n_yes >= limits.units && w.n - n_yes >= limits.units && size_yes >= limits.size &&
               size - size_yes >= limits.size;
    }
    void mark_branches(const Sprout& node, const Sprouts& sprouts, LimbScratch& s) const {
        s.branch_of.assign(static_cast<std::size_t>(n_codes(node.attribute)), 0);
        const std::int64_t hole = field_.hole_code(node.attribute);
        if (hole >= 0) s.branch_of[static_cast<std::size_t>(hole)] = std::max(node.missing, 0);
        for (std::int64_t v = node.value_start; v < node.value_start + node.n_values; ++v) {
            const auto at = static_cast<std::size_t>(v);
            s.branch_of[static_cast<std::size_t>(sprouts.values[at])] = sprouts.branches[at];
        }
    }
    template <class B>
    void part_rows(const Limb<Cell>& limb, std::int64_t n_parts, B branch_of, LimbScratch& s,
                   std::vector<std::int64_t>& stops);

    const Field<M>& field_;
    Order& order_;
    std::int64_t width_ = 0, n_cells_ = 0;
    std::vector<std::int64_t> at_;  // where a column's table begins; -1: it has none
    std::vector<Found> found_;
    std::vector<std::int32_t> active_;
    std::vector<Candidate> candidates_;
    std::int64_t size_ = 0;  // of the node that is searched
};

// Moves the rows of a limb so that each branch's stand together, in their order; stops[b] is where
// branch b ends.
template <class M, class Cell>
template <class B>
void Limbs<M, Cell>::part_rows(const Limb<Cell>& limb, std::int64_t n_parts, B branch_of,
                               LimbScratch& s, std::vector<std::int64_t>& stops) {
    std::uint32_t* rows = order_.rows.data();
    Label* labels = order_.labels.data();
    const auto n = static_cast<std::size_t>(limb.n_rows());
    if (s.rows.size() < n) {
        s.rows.resize(n);
        s.labels.resize(n);
    }
    if (n_parts == 2) {
        std::int64_t yes = limb.begin, no = 0;
        std::uint32_t* other_rows = s.rows.data();
        Label* other_labels = s.labels.data();
        for (std::int64_t i = limb.begin; i < limb.end; ++i) {
            const std::uint32_t row = rows[i];
            const Label label = labels[i];
            const std::int64_t is_no = branch_of(row);
            rows[yes] = row;
            labels[yes] = label;
            other_rows[no] = row;
            other_labels[no] = label;
            yes += 1 - is_no;
            no += is_no;
        }
        std::memcpy(rows + yes, other_rows, static_cast<std::size_t>(no) * sizeof(*rows));
        std::memcpy(labels + yes, other_labels, static_cast<std::size_t>(no) * sizeof(*labels));
        stops = {yes, limb.end};
        return;
    }
    std::vector<std::int64_t> at(static_cast<std::size_t>(n_parts) + 1, 0);
    for (std::int64_t i = limb.begin; i < limb.end; ++i) {
        ++at[static_cast<std::size_t>(branch_of(rows[i])) + 1];
    }
    std::partial_sum(at.begin(), at.end(), at.begin());
    stops.clear();
    for (std::size_t b = 1; b < at.size(); ++b) stops.push_back(limb.begin + at[b]);
    for (std::int64_t i = limb.begin; i < limb.end; ++i) {
        const auto to = static_cast<std::size_t>(at[static_cast<std::size_t>(branch_of(rows[i]))]++);
        s.rows[to] = rows[i];
        s.labels[to] = labels[i];
    }
    std::memcpy(rows + limb.begin, s.rows.data(), n * sizeof(*rows));
    std::memcpy(labels + limb.begin, s.labels.data(), n * sizeof(*labels));
}

template <class M, class Cell>
std::vector<Limb<Cell>> Limbs<M, Cell>::split(const Limb<Cell>& limb, Sprouts& sprouts,
                                              LimbScratch& s) {
    const Sprout node = sprouts.at(limb.id);
    std::vector<std::int64_t> stops;
    if (node.kind == Kind::cut) {
        const Column<double> x = field_.column(node.attribute).numbers;
        const double v = node.threshold;
        const auto at = static_cast<std::size_t>(node.attribute);
        const std::uint8_t* codes = field_.coded.bytes[at].data();
        const auto& edges = field_.coded.bins[at].edges;
        // only rows in the threshold's own bin have to be read
        const auto bin = std::lower_bound(edges.begin(), edges.end(), v) - edges.begin();
        const auto branch = [&](std::uint32_t row) {
            return codes[row] < bin ? 0 : codes[row] > bin ? 1 : x[row] <= v ? 0 : 1;
        };
        const std::int64_t hole = field_.hole_code(node.attribute);
        if (node.missing == no_holes) {
            part_rows(limb, 2, branch, s, stops);
        } else {
            const auto with_holes = [&](std::uint32_t row) {
                return codes[row] == hole ? node.missing : branch(row);
            };
            part_rows(limb, node.n_children, with_holes, s, stops);
        }
    } else {
        mark_branches(node, sprouts, s);
        const std::int64_t n_parts = node.n_children;
        with_codes(node.attribute, [&](auto codes) {
            const auto branch = [&](std::uint32_t row) {
                return s.branch_of[static_cast<std::size_t>(codes[row])];
            };
            part_rows(limb, n_parts, branch, s, stops);
        });
    }
    const auto n_parts = static_cast<std::int64_t>(stops.size());
    const std::int64_t first = sprouts.add(n_parts, node.depth + 1);
    sprouts.at(limb.id).first_child = first;
    sprouts.at(limb.id).n_children = n_parts;
    std::vector<Limb<Cell>> children;
    std::int64_t begin = limb.begin;
    for (std::int64_t b = 0; b < n_parts; ++b) {
        const std::int64_t end = stops[static_cast<std::size_t>(b)];
        std::int64_t* counts = sprouts.counts(first + b);
        std::int64_t size = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<std::size_t>(i);
            counts[order_.labels[at]] += field_.unit(order_.rows[at]);
            size += field_.size(order_.rows[at]);
        }
        sprouts.at(first + b).size = size;
        children.push_back({begin, end, first + b, {}});
        begin = end;
    }
    weigh_branches(sprouts, limb.id);
    return children;
}

template <class M, class Cell>
void Limbs<M, Cell>::count_children(Limb<Cell>& parent, std::vector<Limb<Cell>>& children,
                                    const std::vector<bool>& wanted, Workers* workers) const {
    std::size_t largest = 0;
    std::int64_t direct = 0;
    for (std::size_t b = 0; b < children.size(); ++b) {
        if (children[b].n_rows() > children[largest].n_rows()) largest = b;
        if (wanted[b]) direct += children[b].n_rows();
    }
    const std::int64_t others = parent.n_rows() - children[largest].n_rows();
    // beyond a few children their tables cost more than counting the largest
    const bool subtract = wanted[largest] && others <= direct && children.size() <= 4 &&
                          !parent.table.empty();
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

}  // namespace sortal
