// Growing a tree: large nodes first, all threads on one node; then subtrees, one thread each.
#include "tree.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>

#include "fractions.hpp"
#include "limb_search.hpp"
#include "twig_search.hpp"

namespace sortal {
namespace {

// A node of at most so many rows is grown as a twig: the lists of its columns should stay in the
// second-level cache, and tables of bins should not be larger than the rows they count. To sort a
// twig's columns is worth the while for several levels; a few are found faster by tables.
// 500,000 x 20, three classes, Gini, one thread, rows of a twig: without a bound on the depth 2.6 s
// (2048), 2.1 s (4096), 2.3 s (8192); to depth 8 0.40 s, 0.49 s, 0.63 s.
std::int64_t twig_rows(std::int64_t n_columns, std::int64_t n_classes, std::int64_t levels) {
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
    for (std::int64_t i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = static_cast<Code>(codes[i]);
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
    std::vector<bool> holes;
    std::vector<std::size_t> where;
    for (std::size_t j = 0; j < d; ++j) {
        coded.n_codes[j] = columns[j].n_values + columns[j].holes;
        if (columns[j].kind == Kind::cut) {
            numbers.push_back(columns[j].numbers);
            holes.push_back(columns[j].holes);
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
    auto bins = bin_columns(numbers, holes, n, out, workers);
    for (std::size_t p = 0; p < where.size(); ++p) {
        coded.n_codes[where[p]] = bins[p].size() + columns[where[p]].holes;
        coded.bins[where[p]] = std::move(bins[p]);
    }
    return coded;
}

template <class M, class Cell>
class Grower {
  public:
    Grower(const Field<M>& field, Workers& workers)
        : field_(field),
          workers_(workers),
          scratch_(static_cast<std::size_t>(workers.size())),
          limbs_(field, order_) {
        for (int t = 0; t < workers.size(); ++t) twigs_.emplace_back(field, order_, workers, t);
    }

    Nodes grow() {
        plant();
        if (field_.growth.holes == HolePolicy::fractional) {
            grow_in_parts();
        } else {
            field_.growth.max_leaves < 0 ? grow_all() : grow_best_first();
        }
        return in_preorder();
    }

  private:
    using Node = Limb<Cell>;
    // A node that may be asked next; the earlier made of equals goes first.
    struct Ready {
        double priority;
        std::int64_t made;
        std::size_t list;
        std::int64_t id;
        std::int64_t limb;  // which of those held, its rows not parted so far; -1 within a twig

        bool operator<(const Ready& other) const {
            return priority != other.priority ? priority < other.priority : made > other.made;
        }
    };

    void plant();
    void grow_all();
    void grow_part(Node node, Sprouts& sprouts, int worker);
    void grow_best_first();
    void grow_in_parts();
    void take_best();
    void offer(std::size_t list, std::int64_t id, std::int64_t limb);
    void welcome(std::vector<Node>& nodes);
    void graft(std::vector<Node>& parts);
    Nodes in_preorder() const;

    // Parts of rows as rows, at least one.
    std::int64_t whole_size(std::int64_t size) const {
        const int bits = field_.growth.part_bits;
        if (bits == 0) return size;
        return std::max<std::int64_t>(1, (size + (std::int64_t{1} << (bits - 1))) >> bits);
    }
    bool ends(const Sprouts& sprouts, std::int64_t id) const {
        const Sprout& node = sprouts.at(id);
        return is_leaf(sprouts.whole(id), node.size, node.depth, field_.growth.stops);
    }
    bool is_twig(const Sprouts& sprouts, const Node& node) const {
        const std::int64_t deepest = field_.growth.stops.max_depth;
        const std::int64_t levels = deepest < 0 ? -1 : deepest - sprouts.at(node.id).depth;
        return node.n_rows() <= twig_rows(field_.n_columns(), field_.n_classes(), levels);
    }
    bool is_part(const Node& node) const {
        return node.n_rows() * field_.n_columns() <= cells_a_thread;
    }
    // Splits a limb whose test is known and counts the tables of the children that need one: with
    // `workers`, not those that are left to one thread.
    std::vector<Node> branch_out(Limbs<M, Cell>& limbs, Node& node, Sprouts& sprouts,
                                 LimbScratch& scratch, Workers* workers) {
        auto children = limbs.split(node, sprouts, scratch);
        std::vector<bool> wanted;
        bool any = false;
        for (const auto& child : children) {
            const bool later = is_twig(sprouts, child) || (workers && is_part(child));
            wanted.push_back(!later && !ends(sprouts, child.id));
            any = any || wanted.back();
        }
        if (any) limbs.count_children(node, children, wanted, workers);
        return children;
    }
    // The larger wait below the smaller, so that few tables wait at a time.
    static void push_by_size(std::vector<Node>& children, std::vector<Node>& open) {
        std::stable_sort(children.begin(), children.end(),
                         [](const Node& a, const Node& b) { return a.n_rows() > b.n_rows(); });
        for (auto& child : children) open.push_back(std::move(child));
    }

    const Field<M>& field_;
    Workers& workers_;
    Order order_;
    std::vector<LimbScratch> scratch_;
    Limbs<M, Cell> limbs_;
    std::vector<Twigs<M>> twigs_;
    std::vector<Sprouts> lists_;  // the first holds the root
    // best first
    std::priority_queue<Ready> ready_;
    std::vector<Node> held_;
    std::int64_t held_cells_ = 0, made_ = 0;
};

// The root, with all rows.
template <class M, class Cell>
void Grower<M, Cell>::plant() {
    const TreeRows& rows = field_.rows;
    const auto n = static_cast<std::size_t>(rows.n);
    order_.rows.resize(n);
    std::iota(order_.rows.begin(), order_.rows.end(), 0U);
    order_.labels = copied<Label>(rows.classes, rows.n);
    lists_.resize(1);
    Sprouts& sprouts = lists_[0];
    sprouts.n_classes = rows.n_classes;
    sprouts.add(1, 0);
    for (std::int64_t i = 0; i < rows.n; ++i) {
        sprouts.units[static_cast<std::size_t>(rows.classes[i])] += field_.unit(i);
        sprouts.at(0).size += field_.size(i);
    }
}

// (ZM Alg. 19.1) with a list of open nodes in the place of its recursion.
template <class M, class Cell>
void Grower<M, Cell>::grow_all() {
    std::vector<Node> open{{0, field_.rows.n, 0, {}}}, parts;
    while (!open.empty()) {
        Node node = std::move(open.back());
        open.pop_back();
        workers_.check(0);
        if (ends(lists_[0], node.id)) continue;
        if (is_part(node) || is_twig(lists_[0], node)) {
            parts.push_back(std::move(node));
            continue;
        }
        if (node.table.empty()) limbs_.count(node, &workers_);
        if (!limbs_.search(node, lists_[0], &workers_, scratch_)) continue;
        auto children = branch_out(limbs_, node, lists_[0], scratch_[0], &workers_);
        push_by_size(children, open);
    }
    graft(parts);
}

// Grows each part in a list of its own, as many at a time as there are threads.
template <class M, class Cell>
void Grower<M, Cell>::graft(std::vector<Node>& parts) {
    std::sort(parts.begin(), parts.end(), [](const Node& a, const Node& b) {
        return a.n_rows() != b.n_rows() ? a.n_rows() > b.n_rows() : a.id < b.id;
    });
    const std::size_t first = lists_.size();
    lists_.resize(first + parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
        Sprouts& list = lists_[first + p];
        list.n_classes = lists_[0].n_classes;
        list.add(1, lists_[0].at(parts[p].id).depth);
        list.at(0).size = lists_[0].at(parts[p].id).size;
        const std::int64_t* counts = lists_[0].counts(parts[p].id);
        std::copy(counts, counts + list.n_classes, list.units.begin());
        lists_[0].at(parts[p].id).graft = static_cast<std::int32_t>(first + p);
    }
    workers_.run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t p, int worker) {
        Node node = std::move(parts[static_cast<std::size_t>(p)]);
        node.id = 0;
        grow_part(std::move(node), lists_[first + static_cast<std::size_t>(p)], worker);
    });
}

template <class M, class Cell>
void Grower<M, Cell>::grow_part(Node root, Sprouts& sprouts, int worker) {
    Twigs<M>& twigs = twigs_[static_cast<std::size_t>(worker)];
    if (is_twig(sprouts, root)) {
        twigs.grow(root.begin, root.end, sprouts, root.id);
        return;
    }
    Limbs<M, Cell> limbs(field_, order_);
    std::vector<LimbScratch> scratch(1);
    std::vector<Node> open;
    open.push_back(std::move(root));
    while (!open.empty()) {
        Node node = std::move(open.back());
        open.pop_back();
        workers_.check(worker);
        if (ends(sprouts, node.id)) continue;
        if (is_twig(sprouts, node)) {
            twigs.grow(node.begin, node.end, sprouts, node.id);
            continue;
        }
        if (node.table.empty()) limbs.count(node, nullptr);
        if (!limbs.search(node, sprouts, nullptr, scratch)) continue;
        auto children = branch_out(limbs, node, sprouts, scratch[0], nullptr);
        push_by_size(children, open);
    }
}

// A node whose test is known waits for its turn.
template <class M, class Cell>
void Grower<M, Cell>::offer(std::size_t list, std::int64_t id, std::int64_t limb) {
    const Sprouts& sprouts = lists_[list];
    if (sprouts.at(id).kind == Kind::leaf) return;
    const auto n = static_cast<double>(sprouts.whole(id).n);
    ready_.push({n * sprouts.at(id).score, made_++, list, id, limb});
}

// New nodes: twigs grow whole, limbs are searched.
template <class M, class Cell>
void Grower<M, Cell>::welcome(std::vector<Node>& nodes) {
    std::vector<Node> parts;
    for (const auto& node : nodes) {
        if (is_twig(lists_[0], node) && !ends(lists_[0], node.id)) {
            parts.push_back({node.begin, node.end, node.id, {}});
        }
    }
    graft(parts);
    for (auto& node : nodes) {
        const std::int32_t list = lists_[0].at(node.id).graft;
        if (list >= 0) {
            offer(static_cast<std::size_t>(list), 0, -1);
        } else if (!ends(lists_[0], node.id)) {
            if (node.table.empty()) limbs_.count(node, &workers_);
            limbs_.search(node, lists_[0], &workers_, scratch_);
            offer(0, node.id, static_cast<std::int64_t>(held_.size()));
            held_cells_ += limbs_.n_cells();
            if (held_cells_ > most_held_cells) node.table = {};
            held_.push_back(std::move(node));
        }
    }
}

// Asks the test of largest n * score first, until there are as many leaves as allowed. What a test
// is does not depend on the order, so that twigs may be grown whole and asked in part.
template <class M, class Cell>
void Grower<M, Cell>::grow_best_first() {
    std::vector<Node> root(1);
    root[0] = {0, field_.rows.n, 0, {}};
    welcome(root);
    take_best();
}

template <class M, class Cell>
void Grower<M, Cell>::take_best() {
    std::int64_t leaves = 1;
    while (!ready_.empty() && leaves < field_.growth.max_leaves) {
        workers_.check(0);
        const Ready next = ready_.top();
        ready_.pop();
        Sprout& sprout = lists_[next.list].at(next.id);
        const std::int64_t more = sprout.n_children - 1;
        if (leaves + more > field_.growth.max_leaves) continue;
        leaves += more;
        sprout.taken = true;
        if (next.limb >= 0) {
            Node node = std::move(held_[static_cast<std::size_t>(next.limb)]);
            held_cells_ -= limbs_.n_cells();
            auto children = branch_out(limbs_, node, lists_[0], scratch_[0], &workers_);
            welcome(children);
            continue;
        }
        const std::int64_t first = sprout.first_child;
        for (std::int64_t b = 0; b <= more; ++b) offer(next.list, first + b, -1);
    }
}

// All nodes, of which a bound on the leaves takes the best.
template <class M, class Cell>
void Grower<M, Cell>::grow_in_parts() {
    Sprouts& sprouts = lists_[0];
    for (auto& units : sprouts.units) units <<= field_.growth.unit_bits;
    sprouts.at(0).size <<= field_.growth.part_bits;
    Fractions<M>(field_, workers_).grow(sprouts);
    if (field_.growth.max_leaves < 0) return;
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
    const bool all = field_.growth.max_leaves < 0;
    Nodes out;
    out.n_classes = field_.n_classes();
    std::vector<Step> stack{{0, 0, -1}};
    while (!stack.empty()) {
        Step step = stack.back();
        stack.pop_back();
        const std::int32_t on = lists_[step.list].at(step.id).graft;
        if (on >= 0) step = {static_cast<std::size_t>(on), 0, step.slot};
        const Sprouts& list = lists_[step.list];
        const Sprout& node = list.at(step.id);
        const bool asks = node.kind != Kind::leaf && (all || node.taken);
        if (step.slot >= 0) out.children[static_cast<std::size_t>(step.slot)] =
            static_cast<std::int32_t>(out.size());
        out.kind.push_back(static_cast<std::int8_t>(asks ? node.kind : Kind::leaf));
        out.attribute.push_back(asks ? node.attribute : -1);
        out.threshold.push_back(asks ? node.threshold : std::numeric_limits<double>::quiet_NaN());
        out.heavier.push_back(asks ? node.heavier : -1);
        out.missing.push_back(asks ? node.missing : no_holes);
        out.units.insert(out.units.end(), list.counts(step.id), list.counts(step.id) + list.n_classes);
        out.sizes.push_back(whole_size(node.size));
        out.score.push_back(asks ? node.score : 0.0);
        out.gain.push_back(asks ? node.gain : 0.0);
        out.exact.push_back(asks ? node.exact : true);
        out.candidates.push_back(asks ? node.candidates : 0.0);
        if (asks) {
            const auto first = static_cast<std::int64_t>(out.children.size());
            out.children.resize(out.children.size() + static_cast<std::size_t>(node.n_children), -1);
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
              const Growth& growth, const Logs& logs, Workers& workers) {
    const Coded coded = code_columns(columns, rows.n, workers);
    const Field<M> field{columns, rows, growth, measure, logs, coded};
    // without weights no cell exceeds the rows
    if (!rows.units) return Grower<M, std::int32_t>(field, workers).grow();
    return Grower<M, std::int64_t>(field, workers).grow();
}

// The limits on sizes where these count parts of rows. Parts are rounded: what misses a limit by a
// millionth of a row meets it.
Growth in_parts(Growth growth) {
    const auto slack = [](int bits) { return bits > 20 ? std::int64_t{1} << (bits - 20) : 0; };
    const auto scaled = [&](std::int64_t limit) {
        const std::int64_t most = std::int64_t{1} << 61;
        return limit > most >> growth.part_bits ? most : limit << growth.part_bits;
    };
    growth.stops.leaf_size = scaled(growth.stops.leaf_size) + slack(growth.part_bits);
    growth.rules.limits.size = scaled(growth.rules.limits.size) - slack(growth.part_bits);
    growth.rules.limits.units -= slack(growth.unit_bits);
    return growth;
}

}  // namespace

Nodes grow_tree(const std::vector<TreeColumn>& columns, const TreeRows& rows, const Growth& given,
                const std::function<void()>& poll) {
    if (rows.n >= std::int64_t{1} << 31) throw std::invalid_argument("more than 2^31 - 1 rows");
    if (rows.n_classes > 65535) throw std::invalid_argument("more than 65535 classes");
    std::int64_t total = rows.n;
    if (rows.units) total = std::accumulate(rows.units, rows.units + rows.n, std::int64_t{0});
    const std::int64_t most = std::int64_t{1} << 62;
    if (total > most >> given.unit_bits || rows.n >= most >> given.part_bits) {
        throw std::invalid_argument("rows in parts are too many units");
    }
    total <<= given.unit_bits;
    const Growth growth = given.part_bits > 0 ? in_parts(given) : given;
    Workers workers(growth.threads, poll);
    const Criterion criterion = growth.rules.criterion;
    const bool by_logs = criterion == Criterion::gain || criterion == Criterion::gain_ratio;
    // units of fractional weights, and of rows in parts, are far beyond any table
    const std::int64_t tabled = rows.copies && growth.part_bits == 0 ? total : std::min<std::int64_t>(total, 4096);
    const Logs logs(by_logs ? tabled : 0, Logs::shift_for(total));
    switch (criterion) {
        case Criterion::gini:
            return grow_by(Gini{}, columns, rows, growth, logs, workers);
        case Criterion::cart:
            return grow_by(Cart{}, columns, rows, growth, logs, workers);
        default:
            return grow_by(Gain{&logs}, columns, rows, growth, logs, workers);
    }
}

}  // namespace sortal
