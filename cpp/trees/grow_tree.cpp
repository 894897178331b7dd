// Growing a tree: large nodes first, all threads on one node; then subtrees, one thread each.
#include "trees/tree.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>

#include "trees/cached_subtree_search.hpp"
#include "trees/fractional_rows.hpp"
#include "trees/large_node_search.hpp"

namespace sortal::trees {
namespace {

// A node of at most so many rows is grown as a cached subtree: the lists of its columns should stay
// in the second-level cache, and tables of bins should not be larger than the rows they count. To
// sort a cached subtree's columns is worth the while for several levels; a few are found faster by
// tables. 500,000 x 20, three classes, Gini, one thread, rows of a cached subtree: without a bound
// on the depth 2.6 s (2048), 2.1 s (4096), 2.3 s (8192); to depth 8 0.40 s, 0.49 s, 0.63 s.
std::int64_t cached_rows(std::int64_t n_columns, std::int64_t n_classes, std::int64_t levels) {
    const std::int64_t by_cache = 81920 / std::max<std::int64_t>(1, n_columns);
    const std::int64_t by_table = 64 * n_classes;
    const std::int64_t rows = std::clamp<std::int64_t>(std::max(by_cache, by_table), 1024, 65535);
    const std::int64_t few = std::max<std::int64_t>(1024, by_table);
    return levels >= 0 && levels < 4 ? std::min(rows, few) : rows;
}
// A node of at most so many cells is left to one thread with all that grows from it.
constexpr std::int64_t cells_a_thread = 1 << 19;

// Best first, tables of so many cells are kept until their nodes' turn comes; others count again.
constexpr std::int64_t most_held_cells = 1 << 25;

template <class Code, class From>
std::vector<Code> copied(From codes, std::int64_t n) {
    std::vector<Code> out(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        out[static_cast<std::size_t>(i)] = static_cast<Code>(codes[i]);
    }
    return out;
}

Coded code_columns(const std::vector<TreeColumn>& columns, std::int64_t n, Workers& workers) {
    Coded coded;
    const std::size_t d = columns.size();
    coded.bins.resize(d);
    coded.bytes.resize(d);
    coded.words.resize(d);
    coded.n_codes.resize(d);
    std::vector<Column<double>> numbers;
    std::vector<bool> has_missing;
    std::vector<std::size_t> where;
    for (std::size_t j = 0; j < d; ++j) {
        coded.n_codes[j] = columns[j].n_values + columns[j].has_missing;
        if (columns[j].kind == Kind::cut) {
            numbers.push_back(columns[j].numbers);
            has_missing.push_back(columns[j].has_missing);
            where.push_back(j);
            coded.bytes[j].resize(static_cast<std::size_t>(n));
        } else if (coded.n_codes[j] <= 256) {
            coded.bytes[j] = copied<std::uint8_t>(columns[j].codes, n);
        } else if (coded.n_codes[j] <= 65536) {
            coded.words[j] = copied<std::uint16_t>(columns[j].codes, n);
        }
    }
    std::vector<std::uint8_t*> out;
    for (const std::size_t j : where) out.push_back(coded.bytes[j].data());
    auto bins = bin_columns(numbers, has_missing, n, out, workers);
    for (std::size_t p = 0; p < where.size(); ++p) {
        coded.n_codes[where[p]] = bins[p].size() + columns[where[p]].has_missing;
        coded.bins[where[p]] = std::move(bins[p]);
    }
    return coded;
}

template <class M, class Cell>
class Grower {
  public:
    Grower(const FitContext<M>& context, Workers& workers)
        : context_(context), workers_(workers), scratch_(static_cast<std::size_t>(workers.size())),
          large_nodes_(context, order_) {
        for (int t = 0; t < workers.size(); ++t) {
            subtrees_.emplace_back(context, order_, workers, t);
        }
    }

    Nodes grow() {
        add_root();
        if (context_.options.policy == MissingPolicy::fractional) {
            grow_in_parts();
        } else {
            context_.options.max_leaves < 0 ? grow_all() : grow_best_first();
        }
        return in_preorder();
    }

  private:
    using Node = LargeNode<Cell>;
    // A node that may be asked next; the earlier made of equals goes first.
    struct Ready {
        double priority;
        std::int64_t made;
        std::size_t list;
        std::int64_t id;
        std::int64_t held;  // which of `held_`, its rows not parted so far; -1 in a cached subtree

        bool operator<(const Ready& other) const {
            return priority != other.priority ? priority < other.priority : made > other.made;
        }
    };

    void add_root();
    void grow_all();
    void grow_part(Node node, GrowingNodes& growing, int worker);
    void grow_best_first();
    void grow_in_parts();
    void take_best();
    void offer(std::size_t list, std::int64_t id, std::int64_t held);
    void search_new(std::vector<Node>& nodes);
    void attach(std::vector<Node>& parts);
    Nodes in_preorder() const;

    // Parts of rows as rows, at least one.
    std::int64_t whole_size(std::int64_t size) const {
        const int bits = context_.options.part_bits;
        if (bits == 0) return size;
        return std::max<std::int64_t>(1, (size + (std::int64_t{1} << (bits - 1))) >> bits);
    }
    bool ends(const GrowingNodes& growing, std::int64_t id) const {
        const GrowingNode& node = growing.at(id);
        return is_leaf(growing.whole(id), node.size, node.depth, context_.options);
    }
    bool is_cached(const GrowingNodes& growing, const Node& node) const {
        const std::int64_t deepest = context_.options.max_depth;
        const std::int64_t levels = deepest < 0 ? -1 : deepest - growing.at(node.id).depth;
        return node.n_rows() <= cached_rows(context_.n_columns(), context_.n_classes(), levels);
    }
    bool is_part(const Node& node) const {
        return node.n_rows() * context_.n_columns() <= cells_a_thread;
    }
    // Splits a large node whose test is known and counts the tables of the children that need one:
    // with `workers`, not those that are left to one thread.
    std::vector<Node> split_and_count(LargeNodes<M, Cell>& large_nodes, Node& node,
                                      GrowingNodes& growing, LargeNodeScratch& scratch,
                                      Workers* workers) {
        auto children = large_nodes.split(node, growing, scratch);
        std::vector<bool> wanted;
        bool any = false;
        for (const auto& child : children) {
            const bool later = is_cached(growing, child) || (workers && is_part(child));
            wanted.push_back(!later && !ends(growing, child.id));
            any = any || wanted.back();
        }
        if (any) large_nodes.count_children(node, children, wanted, workers);
        return children;
    }
    // The larger wait below the smaller, so that few tables wait at a time.
    static void push_by_size(std::vector<Node>& children, std::vector<Node>& open) {
        std::stable_sort(children.begin(), children.end(),
                         [](const Node& a, const Node& b) { return a.n_rows() > b.n_rows(); });
        for (auto& child : children) open.push_back(std::move(child));
    }

    const FitContext<M>& context_;
    Workers& workers_;
    RowOrder order_;
    std::vector<LargeNodeScratch> scratch_;
    LargeNodes<M, Cell> large_nodes_;
    std::vector<CachedSubtrees<M>> subtrees_;
    std::vector<GrowingNodes> lists_;  // the first holds the root
    // best first
    std::priority_queue<Ready> ready_;
    std::vector<Node> held_;
    std::int64_t held_cells_ = 0, made_ = 0;
};

// The root, with all rows.
template <class M, class Cell>
void Grower<M, Cell>::add_root() {
    const TreeRows& rows = context_.rows;
    const auto n = static_cast<std::size_t>(rows.n);
    order_.rows.resize(n);
    std::iota(order_.rows.begin(), order_.rows.end(), 0U);
    order_.labels = copied<Label>(rows.classes, rows.n);
    lists_.resize(1);
    GrowingNodes& growing = lists_[0];
    growing.n_classes = rows.n_classes;
    growing.add(1, 0);
    for (std::int64_t i = 0; i < rows.n; ++i) {
        growing.units[static_cast<std::size_t>(rows.classes[i])] += context_.unit(i);
        growing.at(0).size += context_.size(i);
    }
}

// (ZM Alg. 19.1) with a list of open nodes in the place of its recursion.
template <class M, class Cell>
void Grower<M, Cell>::grow_all() {
    std::vector<Node> open{{0, context_.rows.n, 0, {}}}, parts;
    while (!open.empty()) {
        Node node = std::move(open.back());
        open.pop_back();
        workers_.check(0);
        if (ends(lists_[0], node.id)) continue;
        if (is_part(node) || is_cached(lists_[0], node)) {
            parts.push_back(std::move(node));
            continue;
        }
        if (node.table.empty()) large_nodes_.count(node, &workers_);
        if (!large_nodes_.search(node, lists_[0], &workers_, scratch_)) continue;
        auto children = split_and_count(large_nodes_, node, lists_[0], scratch_[0], &workers_);
        push_by_size(children, open);
    }
    attach(parts);
}

// Grows each part in a list of its own, as many at a time as there are threads.
template <class M, class Cell>
void Grower<M, Cell>::attach(std::vector<Node>& parts) {
    std::sort(parts.begin(), parts.end(), [](const Node& a, const Node& b) {
        return a.n_rows() != b.n_rows() ? a.n_rows() > b.n_rows() : a.id < b.id;
    });
    const std::size_t first = lists_.size();
    lists_.resize(first + parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
        GrowingNodes& list = lists_[first + p];
        list.n_classes = lists_[0].n_classes;
        list.add(1, lists_[0].at(parts[p].id).depth);
        list.at(0).size = lists_[0].at(parts[p].id).size;
        const std::int64_t* counts = lists_[0].counts(parts[p].id);
        std::copy(counts, counts + list.n_classes, list.units.begin());
        lists_[0].at(parts[p].id).attached = static_cast<std::int32_t>(first + p);
    }
    workers_.run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t p, int worker) {
        Node node = std::move(parts[static_cast<std::size_t>(p)]);
        node.id = 0;
        grow_part(std::move(node), lists_[first + static_cast<std::size_t>(p)], worker);
    });
}

template <class M, class Cell>
void Grower<M, Cell>::grow_part(Node root, GrowingNodes& growing, int worker) {
    CachedSubtrees<M>& subtrees = subtrees_[static_cast<std::size_t>(worker)];
    if (is_cached(growing, root)) {
        subtrees.grow(root.begin, root.end, growing, root.id);
        return;
    }
    LargeNodes<M, Cell> large_nodes(context_, order_);
    std::vector<LargeNodeScratch> scratch(1);
    std::vector<Node> open;
    open.push_back(std::move(root));
    while (!open.empty()) {
        Node node = std::move(open.back());
        open.pop_back();
        workers_.check(worker);
        if (ends(growing, node.id)) continue;
        if (is_cached(growing, node)) {
            subtrees.grow(node.begin, node.end, growing, node.id);
            continue;
        }
        if (node.table.empty()) large_nodes.count(node, nullptr);
        if (!large_nodes.search(node, growing, nullptr, scratch)) continue;
        auto children = split_and_count(large_nodes, node, growing, scratch[0], nullptr);
        push_by_size(children, open);
    }
}

// A node whose test is known waits for its turn.
template <class M, class Cell>
void Grower<M, Cell>::offer(std::size_t list, std::int64_t id, std::int64_t held) {
    const GrowingNodes& growing = lists_[list];
    if (growing.at(id).kind == Kind::leaf) return;
    const auto n = static_cast<double>(growing.whole(id).n);
    ready_.push({n * growing.at(id).score, made_++, list, id, held});
}

// New nodes: cached subtrees grow whole, large nodes are searched.
template <class M, class Cell>
void Grower<M, Cell>::search_new(std::vector<Node>& nodes) {
    std::vector<Node> parts;
    for (const auto& node : nodes) {
        if (is_cached(lists_[0], node) && !ends(lists_[0], node.id)) {
            parts.push_back({node.begin, node.end, node.id, {}});
        }
    }
    attach(parts);
    for (auto& node : nodes) {
        const std::int32_t list = lists_[0].at(node.id).attached;
        if (list >= 0) {
            offer(static_cast<std::size_t>(list), 0, -1);
        } else if (!ends(lists_[0], node.id)) {
            if (node.table.empty()) large_nodes_.count(node, &workers_);
            large_nodes_.search(node, lists_[0], &workers_, scratch_);
            offer(0, node.id, static_cast<std::int64_t>(held_.size()));
            held_cells_ += large_nodes_.n_cells();
            if (held_cells_ > most_held_cells) node.table = {};
            held_.push_back(std::move(node));
        }
    }
}

// Asks the test of largest n * score first, until there are as many leaves as allowed. What a test
// is does not depend on the order, so that cached subtrees may be grown whole and asked in part.
template <class M, class Cell>
void Grower<M, Cell>::grow_best_first() {
    std::vector<Node> root(1);
    root[0] = {0, context_.rows.n, 0, {}};
    search_new(root);
    take_best();
}

template <class M, class Cell>
void Grower<M, Cell>::take_best() {
    std::int64_t leaves = 1;
    while (!ready_.empty() && leaves < context_.options.max_leaves) {
        workers_.check(0);
        const Ready next = ready_.top();
        ready_.pop();
        GrowingNode& growing_node = lists_[next.list].at(next.id);
        const std::int64_t more = growing_node.n_children - 1;
        if (leaves + more > context_.options.max_leaves) continue;
        leaves += more;
        growing_node.taken = true;
        if (next.held >= 0) {
            Node node = std::move(held_[static_cast<std::size_t>(next.held)]);
            held_cells_ -= large_nodes_.n_cells();
            auto children = split_and_count(large_nodes_, node, lists_[0], scratch_[0], &workers_);
            search_new(children);
            continue;
        }
        const std::int64_t first = growing_node.first_child;
        for (std::int64_t b = 0; b <= more; ++b) offer(next.list, first + b, -1);
    }
}

// All nodes, of which a bound on the leaves takes the best.
template <class M, class Cell>
void Grower<M, Cell>::grow_in_parts() {
    GrowingNodes& growing = lists_[0];
    for (auto& units : growing.units) units <<= context_.options.unit_bits;
    growing.at(0).size <<= context_.options.part_bits;
    FractionalRows<M>(context_, workers_).grow(growing);
    if (context_.options.max_leaves < 0) return;
    offer(0, 0, -1);
    take_best();
}

// All lists as one, nodes numbered before their branches and branches in order.
template <class M, class Cell>
Nodes Grower<M, Cell>::in_preorder() const {
    struct Step {
        std::size_t list;
        std::int64_t id;
        std::int64_t slot;  // where the parent notes the number
    };
    const bool all = context_.options.max_leaves < 0;
    Nodes out;
    out.n_classes = context_.n_classes();
    std::vector<Step> stack{{0, 0, -1}};
    while (!stack.empty()) {
        Step step = stack.back();
        stack.pop_back();
        const std::int32_t on = lists_[step.list].at(step.id).attached;
        if (on >= 0) step = {static_cast<std::size_t>(on), 0, step.slot};
        const GrowingNodes& list = lists_[step.list];
        const GrowingNode& node = list.at(step.id);
        const bool asks = node.kind != Kind::leaf && (all || node.taken);
        if (step.slot >= 0) {
            out.children[static_cast<std::size_t>(step.slot)] =
                static_cast<std::int32_t>(out.size());
        }
        out.kind.push_back(static_cast<std::int8_t>(asks ? node.kind : Kind::leaf));
        out.attribute.push_back(asks ? node.attribute : -1);
        out.threshold.push_back(asks ? node.threshold : std::numeric_limits<double>::quiet_NaN());
        out.heavier.push_back(asks ? node.heavier : -1);
        out.missing.push_back(asks ? node.missing : no_missing);
        out.units.insert(out.units.end(), list.counts(step.id),
                         list.counts(step.id) + list.n_classes);
        out.sizes.push_back(whole_size(node.size));
        out.score.push_back(asks ? node.score : 0.0);
        out.gain.push_back(asks ? node.gain : 0.0);
        out.exact.push_back(asks ? node.exact : true);
        out.candidates.push_back(asks ? node.candidates : 0.0);
        if (asks) {
            const auto first = static_cast<std::int64_t>(out.children.size());
            out.children.resize(out.children.size() + static_cast<std::size_t>(node.n_children),
                                -1);
            for (std::int64_t b = node.n_children - 1; b >= 0; --b) {
                stack.push_back({step.list, node.first_child + b, first + b});
            }
            const auto from = list.values.begin() + node.value_start;
            out.values.insert(out.values.end(), from, from + node.n_values);
            const auto branch = list.branches.begin() + node.value_start;
            out.branches.insert(out.branches.end(), branch, branch + node.n_values);
        }
        out.child_start.push_back(static_cast<std::int64_t>(out.children.size()));
        out.value_start.push_back(static_cast<std::int64_t>(out.values.size()));
    }
    return out;
}

template <class M>
Nodes grow_by(const M& measure, const std::vector<TreeColumn>& columns, const TreeRows& rows,
              const GrowOptions& options, const Logs& logs, Workers& workers) {
    const Coded coded = code_columns(columns, rows.n, workers);
    const FitContext<M> context{columns, rows, options, measure, logs, coded};
    // without weights no cell exceeds the rows
    if (!rows.units) return Grower<M, std::int32_t>(context, workers).grow();
    return Grower<M, std::int64_t>(context, workers).grow();
}

}  // namespace

GrowOptions in_parts(GrowOptions options) {
    if (options.part_bits == 0) return options;
    const auto slack = [](int bits) { return bits > 20 ? std::int64_t{1} << (bits - 20) : 0; };
    const auto scaled = [&](std::int64_t limit) {
        const std::int64_t most = std::int64_t{1} << 61;
        return limit > most >> options.part_bits ? most : limit << options.part_bits;
    };
    options.leaf_size = scaled(options.leaf_size) + slack(options.part_bits);
    options.min_size = scaled(options.min_size) - slack(options.part_bits);
    options.min_units -= slack(options.unit_bits);
    return options;
}

Nodes grow_tree(const std::vector<TreeColumn>& columns, const TreeRows& rows,
                const GrowOptions& given, int threads, const std::function<void()>& poll) {
    if (rows.n >= std::int64_t{1} << 31) throw std::invalid_argument("more than 2^31 - 1 rows");
    if (rows.n_classes > 65535) throw std::invalid_argument("more than 65535 classes");
    std::int64_t total = rows.n;
    if (rows.units) total = std::accumulate(rows.units, rows.units + rows.n, std::int64_t{0});
    const std::int64_t most = std::int64_t{1} << 62;
    if (total > most >> given.unit_bits || rows.n >= most >> given.part_bits) {
        throw std::invalid_argument("rows in parts are too many units");
    }
    total <<= given.unit_bits;
    const GrowOptions options = in_parts(given);
    Workers workers(threads, poll);
    // units of fractional weights, and of rows in parts, are far beyond any table
    const std::int64_t tabled =
        rows.copies && options.part_bits == 0 ? total : std::min<std::int64_t>(total, 4096);
    const Logs logs(uses_logs(options.criterion) ? tabled : 0, Logs::shift_for(total));
    return with_measure(options.criterion, logs, [&](const auto& measure) {
        return grow_by(measure, columns, rows, options, logs, workers);
    });
}

}  // namespace sortal::trees
