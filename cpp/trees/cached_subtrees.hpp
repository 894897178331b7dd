// Cached subtrees: subtrees of at most 65,535 rows, grown depth first with everything in the cache.
//
// A number column of many values is sorted once, missing values last; its list of rows is then
// parted with every test, so that a node scans its columns in order. A column of at most 64 values
// is counted at every node, with a bit for each value that is there. Columns that no longer vary
// are left out of all nodes below.
#pragma once

#include <bit>
#include <cmath>

#include "trees/large_nodes.hpp"

namespace sortal::trees {

using Item = std::uint16_t;           // a row, counted within the cached subtree
constexpr Item missing_rank = 65535;  // of numbers: after the ranks of all values
constexpr std::size_t columns_a_time = 8;
constexpr std::size_t few_values = 64;

template <class M>
class CachedSubtrees {
  public:
    CachedSubtrees(const FitContext<M>& context, const RowOrder& order, Workers& workers,
                   int worker)
        : context_(context), order_(order), workers_(workers), worker_(worker) {
        found_.resize(context.columns.size());
    }

    // Grows the subtree of node `id`, whose rows are order.rows[begin .. end - 1].
    void grow(std::int64_t begin, std::int64_t end, GrowingNodes& growing, std::int64_t id);

  private:
    struct Job {
        std::int64_t begin, end, id;
        std::size_t active, n_active;
    };
    struct Keyed {
        double x;
        Item item;
    };
    // A stretch of a column's list that is scanned: the rows searched, what lies on the yes side
    // before any of the list's rows, and where it ends. The last row is no place of a cut.
    struct Stretch {
        std::int64_t begin, end;
        Whole w;
        std::int64_t size;
        const MissingRows* missing = nullptr;  // those on the yes side

        std::int64_t n_before() const { return missing ? missing->n : 0; }
        std::int64_t size_before() const { return missing ? missing->size : 0; }
    };

    void read(std::int64_t begin, std::int64_t end);
    void sort_column(std::int64_t j, const double* x);
    void rank_codes(std::int64_t j);
    bool varies(const Job& job, std::int64_t j) const;
    bool search(const Job& job, GrowingNodes& growing);
    Verdict search_once(const Job& job, const Whole& w, bool careful);
    void look_at_cut(const Job& job, const Whole& w, std::int64_t j, bool careful);
    std::int64_t end_of_known(const Job& job, std::int64_t j) const;
    void read_missing(const Job& job, const Whole& w, std::int64_t j, std::int64_t from,
                      Found& found);
    void scan_list(const Job& job, const Whole& w, std::int64_t j, bool careful);
    void start_side(const Stretch& stretch);
    void add_cut(const Stretch& stretch, std::int64_t j, double key, std::int64_t n_yes,
                 std::int64_t place);
    void scan(const Stretch& stretch, std::int64_t j, bool careful);
    void scan_plain(const Stretch& stretch, std::int64_t j);
    void scan_counted(const Job& job, const Whole& w, std::int64_t j);
    void scan_cells(const Whole& w, std::int64_t j, std::uint64_t there, bool missing_yes);
    double threshold(std::int64_t j, const Found& found) const;
    void count_values(const Job& job, std::int64_t j, Found& found);
    void split(const Job& job, GrowingNodes& growing, std::vector<Job>& stack);
    void mark(const Job& job, const GrowingNodes& growing, const GrowingNode& node);
    void mark_cut(const Job& job, const GrowingNode& node);
    void part(Item* list, const Job& job, std::int64_t n_parts);

    std::size_t list_at(std::int64_t j) const { return static_cast<std::size_t>(j * m_); }
    const Item* list_of(std::int64_t j) const { return lists_.data() + list_at(j); }
    const Item* ranks_of(std::int64_t j) const { return ranks_.data() + list_at(j); }
    std::int64_t unit(Item i) const { return units_.empty() ? 1 : units_[i]; }
    std::int64_t size_of(Item i) const {
        return !context_.counts_rows() ? unit(i) : sizes_.empty() ? 1 : sizes_[i];
    }
    // whether missing values of a column are tried on both sides of its cuts
    bool both_sides(const Found& found) const { return context_.by_side() && found.missing.n > 0; }
    bool is_list(std::int64_t j) const {  // whether a column's rows are kept in order
        return context_.column(j).kind == Kind::cut && !counted_[static_cast<std::size_t>(j)];
    }
    double value(std::int64_t j, Item i) const {
        return context_.column(j).numbers[order_.rows[static_cast<std::size_t>(begin_ + i)]];
    }

    const FitContext<M>& context_;
    const RowOrder& order_;
    Workers& workers_;
    int worker_;
    std::int64_t begin_ = 0, m_ = 0, size_ = 0;
    std::vector<Item> items_;              // the rows of all nodes, node by node
    std::vector<Item> lists_;              // by column: the rows of each node in order of values
    std::vector<Item> ranks_;              // by column and row: rank of its value or code
    std::vector<std::int32_t> present_;    // codes by rank, of all category columns
    std::vector<std::size_t> present_at_;  // by column
    std::vector<std::uint8_t> counted_;    // by column: whether it has few values
    std::vector<double> few_;              // by column and rank: the values of such a column
    std::vector<Label> labels_;
    std::vector<std::int64_t> units_, sizes_;
    std::vector<Found> found_;
    std::vector<Candidate> candidates_;
    std::vector<std::int32_t> active_;  // lists of columns, one after the other
    std::vector<std::int64_t> yes_, cells_;
    std::vector<std::int32_t> branch_of_row_;
    std::vector<std::uint8_t> is_no_;
    std::vector<Item> other_;
    std::vector<std::int64_t> stops_;  // where the branches of the last test end
    std::vector<Keyed> keyed_;
    std::vector<double> numbers_;
    std::vector<std::int32_t> codes_;
    std::vector<Item> touched_;
    Scratch subsets_;
};

template <class M>
void CachedSubtrees<M>::read(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    m_ = end - begin;
    const auto m = static_cast<std::size_t>(m_), d = context_.columns.size();
    items_.resize(m);
    std::iota(items_.begin(), items_.end(), Item{0});
    labels_.assign(order_.labels.begin() + begin, order_.labels.begin() + end);
    units_.clear();
    if (context_.rows.units) {
        for (std::int64_t i = begin; i < end; ++i) {
            units_.push_back(context_.rows.units[order_.rows[static_cast<std::size_t>(i)]]);
        }
    }
    sizes_.clear();
    if (context_.rows.sizes) {
        for (std::int64_t i = begin; i < end; ++i) {
            sizes_.push_back(context_.rows.sizes[order_.rows[static_cast<std::size_t>(i)]]);
        }
    }
    lists_.resize(m * d);
    ranks_.resize(m * d);
    is_no_.resize(m);
    other_.resize(m);
    keyed_.resize(m);
    codes_.resize(m);
    counted_.assign(d, 0);
    few_.resize(d * few_values);
    present_.clear();
    present_at_.assign(d + 1, 0);
    std::vector<std::int64_t> cuts;
    for (std::int64_t j = 0; j < context_.n_columns(); ++j) {
        present_at_[static_cast<std::size_t>(j)] = present_.size();
        if (context_.column(j).kind == Kind::cut) {
            cuts.push_back(j);
        } else {
            rank_codes(j);
        }
    }
    present_at_[d] = present_.size();
    // neighbors in a row share a line of the cache: columns are read eight at a time
    numbers_.resize(m * columns_a_time);
    for (std::size_t from = 0; from < cuts.size(); from += columns_a_time) {
        const std::size_t to = std::min(cuts.size(), from + columns_a_time);
        for (std::size_t i = 0; i < m; ++i) {
            const std::uint32_t row = order_.rows[static_cast<std::size_t>(begin) + i];
            for (std::size_t c = from; c < to; ++c) {
                numbers_[(c - from) * m + i] = context_.column(cuts[c]).numbers[row];
            }
        }
        for (std::size_t c = from; c < to; ++c) sort_column(cuts[c], &numbers_[(c - from) * m]);
    }
}

// A column's rows in order of its values: into bins first, then within bins.
template <class M>
void CachedSubtrees<M>::sort_column(std::int64_t j, const double* x) {
    const auto at = static_cast<std::size_t>(j);
    const std::uint8_t* codes = context_.coded.bytes[at].data();
    const Bins& bins = context_.coded.bins[at];
    const std::uint32_t* rows = order_.rows.data() + begin_;
    std::int32_t stops[257] = {};
    for (std::int64_t i = 0; i < m_; ++i) ++stops[codes[rows[i]] + 1];
    for (std::size_t b = 0; b < 256; ++b) stops[b + 1] += stops[b];
    std::int32_t next[256];
    std::copy(stops, stops + 256, next);
    for (std::int64_t i = 0; i < m_; ++i) {
        keyed_[static_cast<std::size_t>(next[codes[rows[i]]]++)] = {x[i], static_cast<Item>(i)};
    }
    const auto below = [](const Keyed& a, const Keyed& b) { return a.x < b.x; };
    for (std::size_t b = 0; b < static_cast<std::size_t>(bins.size()); ++b) {
        Keyed* from = keyed_.data() + stops[b];
        Keyed* to = keyed_.data() + stops[b + 1];
        if (!bins.mixed[b] || to - from < 2) continue;
        if (to - from > 24) {
            std::sort(from, to, below);
            continue;
        }
        for (Keyed* p = from + 1; p < to; ++p) {
            const Keyed moved = *p;
            Keyed* q = p;
            for (; q > from && moved.x < (q - 1)->x; --q) *q = *(q - 1);
            *q = moved;
        }
    }
    Item* list = lists_.data() + list_at(j);
    Item* ranks = ranks_.data() + list_at(j);
    const std::int64_t known = context_.column(j).has_missing ? stops[bins.size()] : m_;
    Item rank = 0;
    for (std::int64_t i = 0; i < known; ++i) {
        const auto p = static_cast<std::size_t>(i);
        if (i > 0 && keyed_[p - 1].x < keyed_[p].x) ++rank;
        list[i] = keyed_[p].item;
        ranks[keyed_[p].item] = rank;
        if (rank < few_values) few_[at * few_values + rank] = keyed_[p].x;
    }
    for (std::int64_t i = known; i < m_; ++i) {
        list[i] = keyed_[static_cast<std::size_t>(i)].item;
        ranks[list[i]] = missing_rank;
    }
    const std::size_t n_values = std::size_t{rank} + 1;
    counted_[at] = n_values < few_values && 2 * n_values <= static_cast<std::size_t>(m_);
    if (!counted_[at] || known == m_) return;
    // counted as one more value, the last
    for (std::int64_t i = known; i < m_; ++i) ranks[list[i]] = few_values - 1;
}

// A column's codes as ranks among those present in the cached subtree.
template <class M>
void CachedSubtrees<M>::rank_codes(std::int64_t j) {
    const Column<std::int32_t> codes = context_.column(j).codes;
    for (std::int64_t i = 0; i < m_; ++i) {
        codes_[static_cast<std::size_t>(i)] =
            codes[order_.rows[static_cast<std::size_t>(begin_ + i)]];
    }
    const auto from = static_cast<std::ptrdiff_t>(present_.size());
    present_.insert(present_.end(), codes_.begin(), codes_.begin() + m_);
    std::sort(present_.begin() + from, present_.end());
    present_.erase(std::unique(present_.begin() + from, present_.end()), present_.end());
    Item* ranks = ranks_.data() + list_at(j);
    for (std::int64_t i = 0; i < m_; ++i) {
        const auto place = std::lower_bound(present_.begin() + from, present_.end(),
                                            codes_[static_cast<std::size_t>(i)]);
        ranks[i] = static_cast<Item>(place - (present_.begin() + from));
    }
}

template <class M>
bool CachedSubtrees<M>::varies(const Job& job, std::int64_t j) const {
    const Item* ranks = ranks_of(j);
    if (is_list(j)) {
        const Item* list = list_of(j);
        return ranks[list[job.begin]] != ranks[list[job.end - 1]];
    }
    const Item first = ranks[items_[static_cast<std::size_t>(job.begin)]];
    for (std::int64_t i = job.begin + 1; i < job.end; ++i) {
        if (ranks[items_[static_cast<std::size_t>(i)]] != first) return true;
    }
    return false;
}

// Which side of its cut every row of a node takes; of three branches the last is that of missing
// values.
template <class M>
void CachedSubtrees<M>::mark_cut(const Job& job, const GrowingNode& node) {
    const std::int64_t j = node.attribute;
    const Item* list = is_list(j) ? list_of(j) : items_.data();
    const Item* ranks = ranks_of(j);
    const Found& found = found_[static_cast<std::size_t>(j)];
    const bool alone = std::isinf(node.threshold);
    const Item missing = is_list(j) ? missing_rank : static_cast<Item>(few_values - 1);
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = list[i];
        const bool no =
            !alone && (is_list(j) ? i > found.cut.place : ranks[item] > found.cut.place);
        is_no_[item] = no;
    }
    if (node.missing == no_missing) return;
    if (node.n_children > 2) branch_of_row_.resize(static_cast<std::size_t>(m_));
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = list[i];
        const std::int32_t branch = ranks[item] == missing ? node.missing : is_no_[item];
        is_no_[item] = static_cast<std::uint8_t>(branch);
        if (node.n_children > 2) branch_of_row_[item] = branch;
    }
}

// Says for every row of a node which branch it takes.
template <class M>
void CachedSubtrees<M>::mark(const Job& job, const GrowingNodes& growing, const GrowingNode& node) {
    const std::int64_t j = node.attribute;
    if (node.kind == Kind::cut) {
        mark_cut(job, node);
        return;
    }
    const auto at = static_cast<std::size_t>(j);
    const std::int32_t* present = present_.data() + present_at_[at];
    codes_.resize(std::max(codes_.size(), present_at_[at + 1] - present_at_[at]));
    std::size_t v = 0;
    for (std::int64_t p = node.value_start; p < node.value_start + node.n_values; ++p) {
        while (present[v] != growing.values[static_cast<std::size_t>(p)]) ++v;
        codes_[v] = growing.branches[static_cast<std::size_t>(p)];
    }
    const std::size_t n_present = present_at_[at + 1] - present_at_[at];
    const std::int64_t missing = context_.missing_code(j);
    if (missing >= 0 && n_present > 0 && present[n_present - 1] == missing) {
        codes_[n_present - 1] = std::max(node.missing, 0);
    }
    const Item* ranks = ranks_of(j);
    const bool binary = node.n_children == 2;
    if (!binary) branch_of_row_.resize(static_cast<std::size_t>(m_));
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = items_[static_cast<std::size_t>(i)];
        if (binary) {
            is_no_[item] = static_cast<std::uint8_t>(codes_[ranks[item]]);
        } else {
            branch_of_row_[item] = codes_[ranks[item]];
        }
    }
}

// Parts a list of the node's rows by branches.
template <class M>
void CachedSubtrees<M>::part(Item* list, const Job& job, std::int64_t n_parts) {
    const List<Item> items{list, other_.data()};
    if (n_parts == 2) {
        const auto branch = [this](Item item) { return is_no_[item]; };
        part_lists(job.begin, job.end, n_parts, branch, stops_, items);
    } else {
        const auto branch = [this](Item item) { return branch_of_row_[item]; };
        part_lists(job.begin, job.end, n_parts, branch, stops_, items);
    }
}

template <class M>
void CachedSubtrees<M>::split(const Job& job, GrowingNodes& growing, std::vector<Job>& stack) {
    const GrowingNode node = growing.at(job.id);
    const std::int64_t n_parts = node.n_children;
    mark(job, growing, node);
    part(items_.data(), job, n_parts);
    for (std::size_t a = 0; a < job.n_active; ++a) {
        const std::int64_t j = active_[job.active + a];
        if (is_list(j)) part(lists_.data() + list_at(j), job, n_parts);
    }
    const std::int64_t first = growing.add(n_parts, node.depth + 1);
    growing.at(job.id).first_child = first;
    growing.at(job.id).n_children = n_parts;
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = items_[static_cast<std::size_t>(i)];
        const std::int64_t b = n_parts == 2 ? is_no_[item] : branch_of_row_[item];
        growing.counts(first + b)[labels_[item]] += unit(item);
        growing.at(first + b).size += size_of(item);
    }
    weigh_branches(growing, job.id);
    std::int64_t begin = job.begin;
    for (std::int64_t b = 0; b < n_parts; ++b) {
        const std::int64_t end = stops_[static_cast<std::size_t>(b)];
        stack.push_back({begin, end, first + b, job.active, job.n_active});
        begin = end;
    }
}

template <class M>
void CachedSubtrees<M>::grow(std::int64_t begin, std::int64_t end, GrowingNodes& growing,
                             std::int64_t id) {
    read(begin, end);
    active_.resize(context_.columns.size());
    std::iota(active_.begin(), active_.end(), 0);
    std::vector<Job> stack{{0, m_, id, 0, active_.size()}};
    while (!stack.empty()) {
        Job job = stack.back();
        stack.pop_back();
        workers_.check(worker_);
        const GrowingNode& node = growing.at(job.id);
        if (is_leaf(growing.whole(job.id), node.size, node.depth, context_.options)) continue;
        // what varies here, in a list that the children share
        active_.resize(job.active + job.n_active);
        const std::size_t from = active_.size();
        for (std::size_t a = job.active; a < job.active + job.n_active; ++a) {
            const std::int32_t j = active_[a];
            if (varies(job, j)) active_.push_back(j);
        }
        job.active = from;
        job.n_active = active_.size() - from;
        if (search(job, growing)) split(job, growing, stack);
    }
}

}  // namespace sortal::trees
