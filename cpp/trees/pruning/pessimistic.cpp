// Rows lie in one list, those of a node side by side and those of its branches within. A subtree
// that takes its parent's place parts the parent's rows anew; all else stays where it is.
//
// How a branch would fare with all rows of its parent is asked of the other branches' rows only:
// the branch's own are where they would be. Each row is asked about once for every test above it
// whose largest branch it missed, which are log2 n at most.
#include "trees/pruning/pessimistic.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

namespace sortal::trees {
namespace {

// Upper tails of the normal distribution and the deviates they begin at, as C4.5 tabulates them.
constexpr double tails[] = {0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
constexpr double deviates[] = {4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};

// Estimates that differ by no more than this are equal.
constexpr double allowance = 0.1;

double deviate(double confidence) {
    std::size_t i = 1;
    while (confidence > tails[i]) ++i;
    const double part = (confidence - tails[i - 1]) / (tails[i] - tails[i - 1]);
    return deviates[i - 1] + (deviates[i] - deviates[i - 1]) * part;
}

// A sum of squared units.
using Squares = unsigned __int128;

class Pruner {
  public:
    Pruner(const Nodes& tree, const std::vector<TreeColumn>& columns, const TreeRows& rows,
           const AddedErrors& added, const std::function<void()>& poll)
        : columns_(columns), rows_(rows), added_(added), poll_(poll),
          K_(static_cast<std::size_t>(rows.n_classes)) {
        for (std::size_t i = 0; i < tree.kind.size(); ++i) add_node(tree, i);
        units_.assign(nodes_.size() * K_, 0);
        squares_.assign(nodes_.size(), 0);
        extra_ = units_;
        extra_squares_ = squares_;
        order_.resize(static_cast<std::size_t>(rows.n));
        std::iota(order_.begin(), order_.end(), 0);
        moving_ = order_;
        branch_.resize(order_.size());
        at(0).to = rows.n;
    }
    PrunedTree run();

  private:
    struct Node {
        Kind kind = Kind::leaf;
        std::int32_t attribute = -1;
        double threshold = std::nan("");
        std::int32_t heavier = -1, missing = -1, origin = -1;
        std::vector<std::int32_t> children, values, branches;
        std::int64_t from = 0, to = 0;  // its rows in the list
        std::int64_t grown = -1;        // how many there were before pruning
        double errors = 0.0;            // estimated, of the whole subtree

        std::int64_t n_rows() const { return to - from; }
    };
    // A row that meets a node without a branch for its value.
    struct Stray {
        std::int32_t node, code, row;

        bool with(const Stray& other) const { return node == other.node && code == other.code; }
        bool operator<(const Stray& other) const {
            return node != other.node ? node < other.node : code < other.code;
        }
    };

    static std::size_t place(std::int32_t i) { return static_cast<std::size_t>(i); }
    Node& at(std::int32_t node) { return nodes_[place(node)]; }
    const Node& at(std::int32_t node) const { return nodes_[place(node)]; }
    std::int64_t* units(std::int32_t node) { return units_.data() + place(node) * K_; }
    const std::int64_t* units(std::int32_t node) const { return units_.data() + place(node) * K_; }
    std::int64_t weight(std::int32_t row) const { return rows_.units ? rows_.units[row] : 1; }
    // Σ of the squared weights of the row's copies: below 2^122, as all units are below 2^61.
    Squares squares(std::int32_t row) const {
        const std::int64_t units = weight(row);
        const std::int64_t copies = rows_.copies ? units : rows_.sizes ? rows_.sizes[row] : 1;
        return static_cast<Squares>(units) * static_cast<Squares>(units / copies);
    }
    std::int64_t size(const Node& node, const std::int64_t* counts) const {
        if (rows_.copies) return std::accumulate(counts, counts + K_, std::int64_t{0});
        if (!rows_.sizes) return node.n_rows();
        std::int64_t sum = 0;
        for (std::int64_t i = node.from; i < node.to; ++i) {
            sum += rows_.sizes[order_[static_cast<std::size_t>(i)]];
        }
        return sum;
    }

    void add_node(const Nodes& tree, std::size_t i);
    std::vector<std::int32_t> preorder(std::int32_t top) const;
    bool is_missing(const Node& node, std::int32_t row) const;
    std::int32_t branch_of(std::int32_t id, std::int32_t row) const;
    std::int32_t heaviest(std::int32_t id) const;
    void count(std::int32_t id);
    void meet_strangers(std::int32_t id);
    void add_value(std::int32_t id, std::int32_t code);
    void part(std::int32_t id);
    void arrange(std::int32_t top);
    double estimate(const std::int64_t* counts, Squares squares) const;
    double errors_of(std::int32_t id) const { return estimate(units(id), squares_[place(id)]); }
    void walk(std::int32_t from, std::int32_t row);
    double stray_errors();
    double errors_with_all(std::int32_t id, std::int32_t branch);
    void make_leaf(std::int32_t id);
    bool settle(std::int32_t id);
    PrunedTree written();

    const std::vector<TreeColumn>& columns_;
    const TreeRows& rows_;
    const AddedErrors& added_;
    const std::function<void()>& poll_;
    const std::size_t K_;
    std::vector<Node> nodes_;
    std::vector<std::int64_t> units_;
    std::vector<Squares> squares_;
    double rows_a_unit_ = 1.0;  // effective rows of the whole table by its units
    std::vector<std::int32_t> order_, moving_, branch_;
    // of the rows that a branch is tried with: their classes by leaf, the leaves, and the strays
    std::vector<std::int64_t> extra_;
    std::vector<Squares> extra_squares_;
    std::vector<std::int32_t> touched_;
    std::vector<Stray> strays_;
};

void Pruner::add_node(const Nodes& tree, std::size_t i) {
    Node node;
    node.kind = static_cast<Kind>(tree.kind[i]);
    node.attribute = tree.attribute[i];
    node.threshold = tree.threshold[i];
    node.heavier = tree.heavier[i];
    node.missing = tree.missing[i];
    node.origin = static_cast<std::int32_t>(i);
    node.children.assign(tree.children.begin() + tree.child_start[i],
                         tree.children.begin() + tree.child_start[i + 1]);
    node.values.assign(tree.values.begin() + tree.value_start[i],
                       tree.values.begin() + tree.value_start[i + 1]);
    node.branches.assign(tree.branches.begin() + tree.value_start[i],
                         tree.branches.begin() + tree.value_start[i + 1]);
    nodes_.push_back(std::move(node));
}

std::vector<std::int32_t> Pruner::preorder(std::int32_t top) const {
    std::vector<std::int32_t> met, open{top};
    while (!open.empty()) {
        const std::int32_t id = open.back();
        open.pop_back();
        met.push_back(id);
        const auto& children = at(id).children;
        open.insert(open.end(), children.rbegin(), children.rend());
    }
    return met;
}

bool Pruner::is_missing(const Node& node, std::int32_t row) const {
    const TreeColumn& column = columns_[static_cast<std::size_t>(node.attribute)];
    return node.kind == Kind::cut ? std::isnan(column.numbers[row]) : column.codes[row] < 0;
}

// The branch of a row, -1 where the node has none for its value.
std::int32_t Pruner::branch_of(std::int32_t id, std::int32_t row) const {
    const Node& node = at(id);
    const TreeColumn& column = columns_[static_cast<std::size_t>(node.attribute)];
    if (is_missing(node, row)) return node.missing >= 0 ? node.missing : heaviest(id);
    if (node.kind == Kind::cut) return column.numbers[row] <= node.threshold ? 0 : 1;
    const std::int32_t code = column.codes[row];
    const auto found = std::lower_bound(node.values.begin(), node.values.end(), code);
    if (found != node.values.end() && *found == code) {
        return node.branches[static_cast<std::size_t>(found - node.values.begin())];
    }
    return node.kind == Kind::subset ? node.heavier : -1;
}

// The branch of largest weight, the first of equals.
std::int32_t Pruner::heaviest(std::int32_t id) const {
    const auto& children = at(id).children;
    std::int64_t most = -1;
    std::int32_t best = 0;
    for (std::size_t b = 0; b < children.size(); ++b) {
        const auto* counts = units(children[b]);
        const std::int64_t n = std::accumulate(counts, counts + K_, std::int64_t{0});
        if (n > most) {
            most = n;
            best = static_cast<std::int32_t>(b);
        }
    }
    return best;
}

void Pruner::count(std::int32_t id) {
    std::int64_t* counts = units(id);
    Squares sum = 0;
    std::fill(counts, counts + K_, 0);
    for (std::int64_t i = at(id).from; i < at(id).to; ++i) {
        const std::int32_t row = order_[static_cast<std::size_t>(i)];
        counts[rows_.classes[row]] += weight(row);
        sum += squares(row);
    }
    squares_[place(id)] = sum;
}

// Values and missing values that the node had not met become known to it: they take the heavier
// branch, or, of one branch a value, a new leaf.
void Pruner::meet_strangers(std::int32_t id) {
    const bool cut = at(id).kind == Kind::cut;
    for (std::int64_t i = at(id).from; i < at(id).to; ++i) {
        const std::int32_t row = order_[static_cast<std::size_t>(i)];
        if (is_missing(at(id), row)) {
            if (at(id).missing < 0) at(id).missing = heaviest(id);
        } else if (!cut) {
            add_value(id, columns_[static_cast<std::size_t>(at(id).attribute)].codes[row]);
        }
    }
}

void Pruner::add_value(std::int32_t id, std::int32_t code) {
    Node& node = at(id);
    const auto found = std::lower_bound(node.values.begin(), node.values.end(), code);
    if (found != node.values.end() && *found == code) return;
    const auto place = found - node.values.begin();
    node.values.insert(found, code);
    if (node.kind == Kind::subset) {
        node.branches.insert(node.branches.begin() + place, node.heavier);
        return;
    }
    // branches follow the order of values
    const auto branch = static_cast<std::int32_t>(place);
    for (std::int32_t& later : node.branches) later += later >= branch;
    node.missing += node.missing >= branch;
    node.branches.insert(node.branches.begin() + place, branch);
    node.children.insert(node.children.begin() + place, static_cast<std::int32_t>(nodes_.size()));
    nodes_.emplace_back();
    units_.resize(units_.size() + K_, 0);
    squares_.push_back(0);
    extra_.resize(extra_.size() + K_, 0);
    extra_squares_.push_back(0);
}

// The rows of a node, branch by branch in the order they had.
void Pruner::part(std::int32_t id) {
    meet_strangers(id);
    Node& node = at(id);
    const auto from = static_cast<std::size_t>(node.from), to = static_cast<std::size_t>(node.to);
    std::vector<std::int64_t> ends(node.children.size() + 1, 0), weights(node.children.size(), 0);
    for (std::size_t i = from; i < to; ++i) {
        branch_[i] = branch_of(id, order_[i]);
        const auto b = static_cast<std::size_t>(branch_[i]);
        ++ends[b + 1];
        weights[b] += weight(order_[i]);
    }
    ends[0] = node.from;
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (std::size_t b = 0; b < node.children.size(); ++b) {
        at(node.children[b]).from = ends[b];
        at(node.children[b]).to = ends[b + 1];
    }
    for (std::size_t i = from; i < to; ++i) {
        moving_[static_cast<std::size_t>(ends[static_cast<std::size_t>(branch_[i])]++)] = order_[i];
    }
    std::copy(moving_.begin() + node.from, moving_.begin() + node.to, order_.begin() + node.from);
    if (node.kind == Kind::multiway) return;
    // for values that the node does not know: a branch that known ones take
    node.heavier = weights[1] > weights[0] && !std::isinf(node.threshold) ? 1 : 0;
    if (node.kind == Kind::subset && std::find(node.branches.begin(), node.branches.end(),
                                               node.heavier) == node.branches.end()) {
        node.heavier = 1 - node.heavier;
    }
}

// Parts the rows of a node by all tests below it.
void Pruner::arrange(std::int32_t top) {
    std::vector<std::int32_t> open{top};
    while (!open.empty()) {
        const std::int32_t id = open.back();
        open.pop_back();
        count(id);
        if (at(id).grown < 0) at(id).grown = at(id).n_rows();
        if (at(id).kind == Kind::leaf) continue;
        part(id);
        open.insert(open.end(), at(id).children.begin(), at(id).children.end());
        poll_();
    }
}

// Errors among the effective rows of a node, and what is added to them, as a part of all. (S 96)
double Pruner::estimate(const std::int64_t* counts, Squares squares) const {
    const std::int64_t units = std::accumulate(counts, counts + K_, std::int64_t{0});
    if (!units) return 0.0;
    const double all = static_cast<double>(units), rows_a_unit = all / static_cast<double>(squares);
    const double n = all * rows_a_unit;
    const double e =
        static_cast<double>(units - *std::max_element(counts, counts + K_)) * rows_a_unit;
    return (e + added_(n, e)) / rows_a_unit * rows_a_unit_;
}

// Sends a row from a node to its leaf, and notes it there.
void Pruner::walk(std::int32_t from, std::int32_t row) {
    std::int32_t id = from;
    while (at(id).kind != Kind::leaf) {
        const std::int32_t branch = branch_of(id, row);
        if (branch < 0) {
            const auto attribute = static_cast<std::size_t>(at(id).attribute);
            strays_.push_back({id, columns_[attribute].codes[row], row});
            return;
        }
        id = at(id).children[static_cast<std::size_t>(branch)];
    }
    touched_.push_back(id);
    extra_[place(id) * K_ + place(rows_.classes[row])] += weight(row);
    extra_squares_[place(id)] += squares(row);
}

// The errors of the leaves that strays would have, a leaf a value.
double Pruner::stray_errors() {
    std::stable_sort(strays_.begin(), strays_.end());
    double errors = 0.0;
    std::vector<std::int64_t> counts(K_);
    for (std::size_t i = 0; i < strays_.size();) {
        std::fill(counts.begin(), counts.end(), 0);
        Squares sum = 0;
        std::size_t next = i;
        for (; next < strays_.size() && strays_[next].with(strays_[i]); ++next) {
            const std::int32_t row = strays_[next].row;
            counts[place(rows_.classes[row])] += weight(row);
            sum += squares(row);
        }
        errors += estimate(counts.data(), sum);
        i = next;
    }
    strays_.clear();
    return errors;
}

// The estimated errors of a branch that has all rows of its parent.
double Pruner::errors_with_all(std::int32_t id, std::int32_t branch) {
    const Node& node = at(id);
    const Node& child = at(branch);
    for (std::int64_t i = node.from; i < node.to; ++i) {
        if (i == child.from) i = child.to;
        if (i < node.to) walk(branch, order_[static_cast<std::size_t>(i)]);
    }
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    double errors = child.errors;
    for (const std::int32_t leaf : touched_) {
        std::int64_t* with_more = extra_.data() + place(leaf) * K_;
        std::transform(with_more, with_more + K_, units(leaf), with_more, std::plus<>());
        Squares& more = extra_squares_[place(leaf)];
        errors += estimate(with_more, squares_[place(leaf)] + more) - errors_of(leaf);
        std::fill(with_more, with_more + K_, 0);
        more = 0;
    }
    touched_.clear();
    return errors + stray_errors();
}

void Pruner::make_leaf(std::int32_t id) {
    Node leaf;
    leaf.origin = at(id).origin;
    leaf.from = at(id).from;
    leaf.to = at(id).to;
    leaf.grown = at(id).grown;
    at(id) = std::move(leaf);
}

// Decides about a node whose branches are decided; false where another subtree has taken its place,
// all of which is to be decided again.
bool Pruner::settle(std::int32_t id) {
    const double as_leaf = errors_of(id);
    if (at(id).kind == Kind::leaf) {
        at(id).errors = as_leaf;
        return true;
    }
    double as_tree = 0.0;
    for (const std::int32_t child : at(id).children) as_tree += at(child).errors;
    const std::int32_t branch = at(id).children[static_cast<std::size_t>(heaviest(id))];
    const double as_branch = errors_with_all(id, branch);
    if (as_leaf <= as_branch + allowance && as_leaf <= as_tree + allowance) {
        make_leaf(id);
        at(id).errors = as_leaf;
        return true;
    }
    at(id).errors = as_tree;
    if (as_branch > as_tree + allowance) return true;
    Node raised = std::move(at(branch));
    raised.from = at(id).from;
    raised.to = at(id).to;
    at(id) = std::move(raised);
    arrange(id);
    return false;
}

PrunedTree Pruner::run() {
    arrange(0);
    const std::int64_t all = std::accumulate(units(0), units(0) + K_, std::int64_t{0});
    rows_a_unit_ = static_cast<double>(all) / static_cast<double>(squares_[0]);
    auto open = preorder(0);
    while (!open.empty()) {
        const std::int32_t id = open.back();
        open.pop_back();
        if (!settle(id)) {
            const auto again = preorder(id);
            open.insert(open.end(), again.begin(), again.end());
        }
        poll_();
    }
    return written();
}

PrunedTree Pruner::written() {
    PrunedTree out;
    Nodes& list = out.nodes;
    list.n_classes = rows_.n_classes;
    const auto kept = preorder(0);
    std::vector<std::int32_t> number(nodes_.size(), -1);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        number[static_cast<std::size_t>(kept[i])] = static_cast<std::int32_t>(i);
    }
    for (const std::int32_t id : kept) {
        const Node& node = at(id);
        const std::int64_t* counts = units(id);
        list.kind.push_back(static_cast<std::int8_t>(node.kind));
        list.attribute.push_back(node.attribute);
        list.threshold.push_back(node.threshold);
        list.heavier.push_back(node.heavier);
        list.units.insert(list.units.end(), counts, counts + K_);
        list.sizes.push_back(size(node, counts));
        for (const std::int32_t child : node.children) {
            list.children.push_back(number[static_cast<std::size_t>(child)]);
        }
        list.values.insert(list.values.end(), node.values.begin(), node.values.end());
        list.branches.insert(list.branches.end(), node.branches.begin(), node.branches.end());
        list.child_start.push_back(static_cast<std::int64_t>(list.children.size()));
        list.value_start.push_back(static_cast<std::int64_t>(list.values.size()));
        list.missing.push_back(node.missing);
        out.origin.push_back(node.origin);
        out.moved.push_back(node.n_rows() != node.grown);
    }
    return out;
}

}  // namespace

AddedErrors::AddedErrors(double confidence)
    : log_confidence_(std::log(confidence)),
      coefficient_(deviate(confidence) * deviate(confidence)) {}

// The rate at which n rows without an error are as likely as the confidence says.
double AddedErrors::without_errors(double n) const {
    return n * (1.0 - std::exp(log_confidence_ / n));
}

double AddedErrors::operator()(double n, double e) const {
    if (e < 1e-6) return without_errors(n);
    if (e < 0.9999) return without_errors(n) + e * ((*this)(n, 1.0) - without_errors(n));
    const double middle = e + 0.5;
    if (middle >= n) return 0.67 * (n - e);
    const double spread = coefficient_ * (middle * (1.0 - middle / n) + coefficient_ / 4.0);
    const double rate = (middle + coefficient_ / 2.0 + std::sqrt(spread)) / (n + coefficient_);
    return n * rate - e;
}

PrunedTree prune_raising(const Nodes& tree, const std::vector<TreeColumn>& columns,
                         const TreeRows& rows, const AddedErrors& added,
                         const std::function<void()>& poll) {
    return Pruner(tree, columns, rows, added, poll).run();
}

}  // namespace sortal::trees
