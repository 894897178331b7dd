// Rows in parts: where a row with a missing value goes down every branch, it is in many nodes, with
// a whole number of its 2^part_bits parts in each. The parts of a row in a node depend on the
// node's counts alone, so that a row of weight w counts as w rows do.
#pragma once

#include "trees/node_search.hpp"

namespace sortal::trees {

template <class M>
class FractionalRows {
  public:
    // Units and sizes count parts; `context.options` has its limits in the same scale.
    FractionalRows(const FitContext<M>& context, Workers& workers)
        : context_(context), workers_(workers) {
        found_.resize(context.columns.size());
        cuts_.resize(context.columns.size());
        active_.resize(context.columns.size());
        std::iota(active_.begin(), active_.end(), 0);
    }

    // Grows all that grows from the root, the only node of `growing`.
    void grow(GrowingNodes& growing) {
        std::vector<Node> open(1);
        Node& root = open[0];
        root.rows.resize(static_cast<std::size_t>(context_.rows.n));
        std::iota(root.rows.begin(), root.rows.end(), 0U);
        root.parts.assign(root.rows.size(), std::int64_t{1} << context_.options.part_bits);
        while (!open.empty()) {
            const Node node = std::move(open.back());
            open.pop_back();
            workers_.check(0);
            const GrowingNode& here = growing.at(node.id);
            const Whole w = growing.whole(node.id);
            if (is_leaf(w, here.size, here.depth, context_.options)) continue;
            if (search(node, growing)) split(node, growing, open);
        }
    }

  private:
    struct Node {
        std::vector<std::uint32_t> rows;
        std::vector<std::int64_t> parts;
        std::int64_t id = 0;
    };
    // The distinct values of a number column in a node, with their counts.
    struct NodeCuts {
        std::vector<double> values;
        std::vector<std::int64_t> counts, sizes;
        CutChoice choice;
    };
    struct Item {
        double x;
        std::size_t at;
    };

    // What parts of a row count for, rounded where units are coarser than parts.
    std::int64_t units(std::uint32_t row, std::int64_t parts) const {
        const int coarser = context_.options.part_bits - context_.options.unit_bits;
        const __int128 fine = static_cast<__int128>(context_.unit(row)) * parts;
        const __int128 half = coarser > 0 ? static_cast<__int128>(1) << (coarser - 1) : 0;
        // what is there counts for something: no node may be without units
        return std::max<std::int64_t>(1, static_cast<std::int64_t>((fine + half) >> coarser));
    }
    std::int64_t units(const Node& node, std::size_t i) const {
        return units(node.rows[i], node.parts[i]);
    }
    std::int64_t size(const Node& node, std::size_t i) const {
        return context_.size(node.rows[i]) * node.parts[i];
    }
    std::int32_t label(const Node& node, std::size_t i) const {
        return context_.rows.classes[node.rows[i]];
    }
    Attribute attribute(const NodeCuts& x) const {
        return {Kind::cut, static_cast<std::int64_t>(x.values.size()), x.values.data(),
                x.counts.data(), x.sizes.data()};
    }
    std::int64_t units_until(const NodeCuts& x, std::int64_t cut) const {
        return sum_of(x.counts.data(), (cut + 1) * context_.n_classes());
    }
    void read_numbers(const Node& node, std::int64_t j, const Whole& w);
    void look_at_cut(const Node& node, const Whole& w, std::int64_t j);
    void count_values(const Node& node, std::int64_t j);
    bool search(const Node& node, GrowingNodes& growing);
    void split(const Node& node, GrowingNodes& growing, std::vector<Node>& open);
    std::int32_t branch_of(const GrowingNodes& growing, const GrowingNode& test,
                           std::uint32_t row) const;

    const FitContext<M>& context_;
    Workers& workers_;
    std::vector<Found> found_;
    std::vector<NodeCuts> cuts_;
    std::vector<std::int32_t> active_;
    std::vector<Candidate> candidates_;
    std::vector<Item> items_;
    std::int64_t size_ = 0;  // of the node that is searched
    Scratch scratch_;
};

template <class M>
void FractionalRows<M>::read_numbers(const Node& node, std::int64_t j, const Whole& w) {
    const auto K = static_cast<std::size_t>(w.n_classes);
    const Column<double> x = context_.column(j).numbers;
    Found& found = found_[static_cast<std::size_t>(j)];
    items_.clear();
    found.missing.begin(w.n_classes);
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        if (std::isnan(x[node.rows[i]])) {
            found.missing.add(label(node, i), units(node, i), size(node, i));
        } else {
            items_.push_back({x[node.rows[i]], i});
        }
    }
    context_.set_apart(w, found.missing);
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.x < b.x; });
    NodeCuts& cuts = cuts_[static_cast<std::size_t>(j)];
    cuts = NodeCuts{};
    for (const Item& item : items_) {
        if (cuts.values.empty() || cuts.values.back() < item.x) {
            cuts.values.push_back(item.x);
            cuts.counts.resize(cuts.counts.size() + K, 0);
            cuts.sizes.push_back(0);
        }
        const auto k = static_cast<std::size_t>(label(node, item.at));
        cuts.counts[cuts.counts.size() - K + k] += units(node, item.at);
        cuts.sizes.back() += size(node, item.at);
    }
}

template <class M>
void FractionalRows<M>::look_at_cut(const Node& node, const Whole& w, std::int64_t j) {
    read_numbers(node, j, w);
    Found& found = found_[static_cast<std::size_t>(j)];
    NodeCuts& cuts = cuts_[static_cast<std::size_t>(j)];
    if (cuts.values.size() < 2) return;
    cuts.choice =
        best_cut(context_.measure, found.missing.searched(w), attribute(cuts), context_.options);
    found.key = found.missing.in_node(cuts.choice.key);
    if (found.key == none || !context_.by_ratio()) return;
    found.information = sides_information(context_, w, found, units_until(cuts, cuts.choice.cut));
}

template <class M>
void FractionalRows<M>::count_values(const Node& node, std::int64_t j) {
    const auto K = static_cast<std::size_t>(context_.n_classes());
    const Column<std::int32_t> codes = context_.column(j).codes;
    Found& found = found_[static_cast<std::size_t>(j)];
    for (const std::uint32_t row : node.rows) found.codes.push_back(codes[row]);
    std::sort(found.codes.begin(), found.codes.end());
    found.codes.erase(std::unique(found.codes.begin(), found.codes.end()), found.codes.end());
    found.counts.assign(found.codes.size() * K, 0);
    found.sizes.assign(found.codes.size(), 0);
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const auto v = static_cast<std::size_t>(
            std::lower_bound(found.codes.begin(), found.codes.end(), codes[node.rows[i]]) -
            found.codes.begin());
        found.counts[v * K + static_cast<std::size_t>(label(node, i))] += units(node, i);
        found.sizes[v] += size(node, i);
    }
}

template <class M>
bool FractionalRows<M>::search(const Node& node, GrowingNodes& growing) {
    const Whole w = growing.whole(node.id);
    size_ = growing.at(node.id).size;
    for (std::int64_t j = 0; j < context_.n_columns(); ++j) {
        Found& found = found_[static_cast<std::size_t>(j)];
        found.clear();
        if (context_.column(j).kind == Kind::cut) {
            look_at_cut(node, w, j);
        } else {
            count_values(node, j);
            look_at_values(context_, w, j, found, scratch_);
            if (context_.column(j).kind == Kind::subset) {
                search_subset(context_, w, size_, none, found, scratch_);
            }
        }
    }
    list_candidates(context_, found_, active_.data(), context_.n_columns(), candidates_);
    const Verdict verdict = decide(context_, w, active_.data(), candidates_);
    if (verdict.attribute < 0) return false;
    Found& found = found_[static_cast<std::size_t>(verdict.attribute)];
    double threshold = std::numeric_limits<double>::quiet_NaN();
    if (context_.column(verdict.attribute).kind == Kind::cut) {
        const NodeCuts& cuts = cuts_[static_cast<std::size_t>(verdict.attribute)];
        const double peak = context_.by_ratio() ? none : found.missing.in_known(verdict.peak);
        const CutChoice cut = best_cut(context_.measure, found.missing.searched(w), attribute(cuts),
                                       context_.options, peak);
        found.chosen = found.missing.in_node(cut.chosen);
        const auto at = static_cast<std::size_t>(cut.cut);
        threshold = threshold_between(cuts.values[at], cuts.values[at + 1]);
    }
    if (!note_test(context_, w, verdict, found, candidates_, growing, node.id, scratch_)) {
        return false;
    }
    growing.at(node.id).threshold = threshold;
    return true;
}

// The branch of a row; -1 for a missing value.
template <class M>
std::int32_t FractionalRows<M>::branch_of(const GrowingNodes& growing, const GrowingNode& test,
                                          std::uint32_t row) const {
    const TreeColumn& column = context_.column(test.attribute);
    if (test.kind == Kind::cut) {
        const double x = column.numbers[row];
        return std::isnan(x) ? -1 : (x <= test.threshold ? 0 : 1);
    }
    const auto from = growing.values.begin() + test.value_start;
    const auto found = std::lower_bound(from, from + test.n_values, column.codes[row]);
    if (found == from + test.n_values || *found != column.codes[row]) return -1;
    return growing.branches[static_cast<std::size_t>(found - growing.values.begin())];
}

// Known rows go whole; a missing value's parts go as the units of the known rows do, the rounding
// of the first branches made good by those that follow. (S 42)
template <class M>
void FractionalRows<M>::split(const Node& node, GrowingNodes& growing, std::vector<Node>& open) {
    const GrowingNode test = growing.at(node.id);
    const auto n = static_cast<std::size_t>(test.n_children);
    const std::int64_t first = growing.add(test.n_children, test.depth + 1);
    growing.at(node.id).first_child = first;
    std::vector<Node> children(n);
    std::vector<std::int64_t> until(n + 1, 0);  // known units of the branches so far
    std::vector<std::int32_t> branches;
    const auto send = [&](std::size_t i, std::size_t b, std::int64_t parts) {
        const std::int64_t id = first + static_cast<std::int64_t>(b);
        children[b].rows.push_back(node.rows[i]);
        children[b].parts.push_back(parts);
        growing.counts(id)[label(node, i)] += units(node.rows[i], parts);
        growing.at(id).size += context_.size(node.rows[i]) * parts;
    };
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        branches.push_back(branch_of(growing, test, node.rows[i]));
        if (branches[i] >= 0) until[static_cast<std::size_t>(branches[i]) + 1] += units(node, i);
    }
    std::partial_sum(until.begin(), until.end(), until.begin());
    const __int128 known = until[n];
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        if (branches[i] >= 0) {
            send(i, static_cast<std::size_t>(branches[i]), node.parts[i]);
            continue;
        }
        std::int64_t sent = 0;
        for (std::size_t b = 0; b < n; ++b) {
            const __int128 twice = 2 * static_cast<__int128>(node.parts[i]) * until[b + 1];
            const auto upto = static_cast<std::int64_t>((twice + known) / (2 * known));
            if (upto > sent) send(i, b, upto - sent);
            sent = upto;
        }
    }
    weigh_branches(growing, node.id);
    for (std::size_t b = 0; b < n; ++b) {
        children[b].id = first + static_cast<std::int64_t>(b);
        open.push_back(std::move(children[b]));
    }
}

}  // namespace sortal::trees
