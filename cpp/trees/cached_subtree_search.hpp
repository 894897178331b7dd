// The test of a node within a cached subtree.
#pragma once

#include "trees/cached_subtrees.hpp"

namespace sortal::trees {

// Where the missing values of a node begin in a column's list.
template <class M>
std::int64_t CachedSubtrees<M>::end_of_known(const Job& job, std::int64_t j) const {
    if (!context_.column(j).has_missing) return job.end;
    const Item* list = list_of(j);
    const Item* ranks = ranks_of(j);
    return std::partition_point(list + job.begin, list + job.end,
                                [ranks](Item item) { return ranks[item] != missing_rank; }) -
           list;
}

// The missing values of a number column in a node: the rows of its list from `from` on.
template <class M>
void CachedSubtrees<M>::read_missing(const Job& job, const Whole& w, std::int64_t j,
                                     std::int64_t from, Found& found) {
    if (from == job.end) return;
    const Item* list = list_of(j);
    found.missing.begin(w.n_classes);
    for (std::int64_t i = from; i < job.end; ++i) {
        found.missing.add(labels_[list[i]], unit(list[i]), size_of(list[i]));
    }
    context_.set_apart(w, found.missing);
}

template <class M>
void CachedSubtrees<M>::start_side(const Stretch& stretch) {
    yes_.assign(static_cast<std::size_t>(stretch.w.n_classes), 0);
    if (stretch.missing) yes_ = stretch.missing->counts;
}

// A cut whose key, in the scale of the rows searched, exceeds those before it in its stretch.
template <class M>
void CachedSubtrees<M>::add_cut(const Stretch& stretch, std::int64_t j, double key,
                                std::int64_t n_yes, std::int64_t place) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const bool missing_yes = stretch.missing != nullptr;
    found.cuts.template add<M>({found.missing.in_node(key), n_yes, 0, place, 0.0, 0.0, missing_yes},
                               context_.n_classes());
}

// Where every row weighs one, counts move by one from side to side, and the key with them. A cut
// leaves at least `least` rows on both sides.
template <class M>
void CachedSubtrees<M>::scan_plain(const Stretch& stretch, std::int64_t j) {
    const Limits& limits = context_.options;
    const std::int64_t least = std::max<std::int64_t>({1, limits.min_size, limits.min_units});
    const Item* list = list_of(j);
    const Item* ranks = ranks_of(j);
    const Whole& w = stretch.w;
    start_side(stretch);
    std::int64_t* yes = yes_.data();
    double peak = context_.measure.near(w);
    typename M::Moving moving(context_.measure, w, yes);
    const std::int64_t before = stretch.n_before() - stretch.begin + 1;
    const std::int64_t stop = std::min(stretch.end - 1, w.n - least - before + 1);
    for (std::int64_t i = stretch.begin; i < stop; ++i) {
        const Item item = list[i];
        const Label k = labels_[item];
        moving.move(k, yes[k]++);
        const std::int64_t n_yes = i + before;
        if (n_yes < least || ranks[item] == ranks[list[i + 1]]) continue;
        const double key = moving.key(n_yes);
        if (key <= peak) continue;
        peak = key;
        add_cut(stretch, j, key, n_yes, i);
    }
}

// (ZM Alg. 19.2) for any weights and any measure, and careful where a key may be rounding alone;
// `yes_` is N_v of (ZM 19.12).
template <class M>
void CachedSubtrees<M>::scan(const Stretch& stretch, std::int64_t j, bool careful) {
    const Limits& limits = context_.options;
    const Item* list = list_of(j);
    const Item* ranks = ranks_of(j);
    const Whole& w = stretch.w;
    start_side(stretch);
    double peak = careful ? context_.measure.base(w) : context_.measure.near(w);
    std::int64_t n_yes = stretch.n_before(), size_yes = stretch.size_before();
    for (std::int64_t i = stretch.begin; i + 1 < stretch.end; ++i) {
        const Item item = list[i];
        const std::int64_t u = unit(item);
        yes_[labels_[item]] += u;
        n_yes += u;
        size_yes += size_of(item);
        if (ranks[item] == ranks[list[i + 1]]) continue;
        if (!limits.allow(n_yes, size_yes)) continue;
        if (!limits.allow(w.n - n_yes, stretch.size - size_yes)) break;
        const double key = careful ? exact_key(context_.measure, w, yes_.data(), n_yes)
                                   : context_.measure.key(w, yes_.data(), n_yes);
        if (key <= peak) continue;
        peak = key;
        add_cut(stretch, j, key, n_yes, i);
    }
}

// The cuts of a column whose rows are in order; missing values on the no side come last in it.
template <class M>
void CachedSubtrees<M>::scan_list(const Job& job, const Whole& w, std::int64_t j, bool careful) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const std::int64_t known = end_of_known(job, j);
    if (found.missing.n == 0) read_missing(job, w, j, known, found);
    const auto look = [&](const Stretch& stretch) {
        found.cuts.begin_sequence();
        if constexpr (requires { typename M::Moving; }) {
            if (!careful && units_.empty()) return scan_plain(stretch, j);
        }
        scan(stretch, j, careful);
    };
    const bool both = both_sides(found);
    look({job.begin, both ? job.end : known, found.missing.searched(w),
          found.missing.searched_size(size_)});
    if (both) look({job.begin, known, w, size_, &found.missing});
    found.key = found.cuts.best;
}

// The cuts of a column of few values, from counts by value.
template <class M>
void CachedSubtrees<M>::scan_counted(const Job& job, const Whole& w, std::int64_t j) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const Item* ranks = ranks_of(j);
    const auto K = static_cast<std::size_t>(w.n_classes);
    const std::size_t width = K + 1;  // the last is the size
    if (cells_.size() < few_values * width) cells_.resize(few_values * width, 0);
    std::uint64_t there = 0;
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = items_[static_cast<std::size_t>(i)];
        const Item rank = ranks[item];
        there |= std::uint64_t{1} << rank;
        std::int64_t* cell = cells_.data() + rank * width;
        cell[labels_[item]] += unit(item);
        cell[K] += size_of(item);
    }
    constexpr std::uint64_t missing = std::uint64_t{1} << (few_values - 1);
    const std::uint64_t all = there;
    if (there & missing) {
        const std::int64_t* cell = cells_.data() + (few_values - 1) * width;
        found.missing.counts.assign(cell, cell + K);
        found.missing.n = sum_of(cell, w.n_classes);
        found.missing.size = cell[K];
        context_.set_apart(w, found.missing);
        if (found.missing.apart) there &= ~missing;
    }
    scan_cells(w, j, there, false);
    if (both_sides(found)) scan_cells(w, j, there & ~missing, true);
    for (std::uint64_t left = all; left != 0; left &= left - 1) {
        std::int64_t* cell =
            cells_.data() + static_cast<std::size_t>(std::countr_zero(left)) * width;
        std::fill(cell, cell + width, 0);
    }
    found.key = found.cuts.best;
}

// The cuts between the values that are there.
template <class M>
void CachedSubtrees<M>::scan_cells(const Whole& node, std::int64_t j, std::uint64_t there,
                                   bool missing_yes) {
    const Limits& limits = context_.options;
    Found& found = found_[static_cast<std::size_t>(j)];
    const Whole w = found.missing.searched(node);
    const std::int64_t size = found.missing.searched_size(size_);
    const auto K = static_cast<std::size_t>(w.n_classes);
    start_side({0, 0, w, size, missing_yes ? &found.missing : nullptr});
    std::int64_t n_yes = missing_yes ? found.missing.n : 0;
    std::int64_t size_yes = missing_yes ? found.missing.size : 0;
    const double near = context_.measure.near(w);
    const double* values = few_.data() + static_cast<std::size_t>(j) * few_values;
    found.cuts.begin_sequence();
    while (there != 0) {
        const auto rank = static_cast<std::size_t>(std::countr_zero(there));
        there &= there - 1;
        const std::int64_t* cell = cells_.data() + rank * (K + 1);
        for (std::size_t k = 0; k < K; ++k) {
            yes_[k] += cell[k];
            n_yes += cell[k];
        }
        size_yes += cell[K];
        if (there == 0 || !limits.allow(n_yes, size_yes)) continue;
        if (!limits.allow(w.n - n_yes, size - size_yes)) continue;
        double key = context_.measure.key(w, yes_.data(), n_yes);
        if (key <= near) key = exact_key(context_.measure, w, yes_.data(), n_yes);
        if (key == none) continue;
        const auto next = static_cast<std::size_t>(std::countr_zero(there));
        const double above =
            next == few_values - 1 ? std::numeric_limits<double>::infinity() : values[next];
        found.cuts.template add<M>(
            {found.missing.in_node(key), n_yes, 0, static_cast<std::int64_t>(rank), values[rank],
             above, missing_yes},
            w.n_classes);
    }
}

template <class M>
void CachedSubtrees<M>::look_at_cut(const Job& job, const Whole& w, std::int64_t j, bool careful) {
    Found& found = found_[static_cast<std::size_t>(j)];
    if (!is_list(j)) {
        scan_counted(job, w, j);
    } else {
        scan_list(job, w, j, careful);
        const double near = found.missing.in_node(context_.measure.near(found.missing.searched(w)));
        const bool by_ratio =
            context_.by_ratio() && !(found.key - M::tau(found.key, w.n_classes) > near);
        const bool own = context_.options.policy == MissingPolicy::branch && found.key == none &&
                         found.missing.n > 0;
        if (!careful && (by_ratio || own)) {
            found.cuts.clear();
            scan_list(job, w, j, true);
        }
    }
    part_missing(context_, w, size_, found);
    if (!context_.by_ratio() || found.alone || found.key == none) return;
    settle_cut(found, found.key - M::tau(found.key, w.n_classes));
    found.information = sides_information(context_, w, found, found.cut.n_yes);
}

// A category's values in a node with their counts. (ZM 19.19)
template <class M>
void CachedSubtrees<M>::count_values(const Job& job, std::int64_t j, Found& found) {
    const auto at = static_cast<std::size_t>(j), K = static_cast<std::size_t>(context_.n_classes());
    const std::size_t width = K + 1;  // the last is the size
    const Item* ranks = ranks_of(j);
    const std::int32_t* present = present_.data() + present_at_[at];
    const std::size_t n_present = present_at_[at + 1] - present_at_[at];
    if (cells_.size() < n_present * width) cells_.resize(n_present * width, 0);
    touched_.clear();
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = items_[static_cast<std::size_t>(i)];
        std::int64_t* cell = cells_.data() + ranks[item] * width;
        if (cell[K] == 0) touched_.push_back(ranks[item]);
        cell[K] += size_of(item);
        cell[labels_[item]] += unit(item);
    }
    std::sort(touched_.begin(), touched_.end());
    for (const Item v : touched_) {
        std::int64_t* cell = cells_.data() + v * width;
        found.codes.push_back(present[v]);
        found.counts.insert(found.counts.end(), cell, cell + K);
        if (context_.counts_rows()) found.sizes.push_back(cell[K]);
        std::fill(cell, cell + width, 0);
    }
}

template <class M>
Verdict CachedSubtrees<M>::search_once(const Job& job, const Whole& w, bool careful) {
    const std::int32_t* active = active_.data() + job.active;
    double floor = none;
    for (std::size_t a = 0; a < job.n_active; ++a) {
        const std::int64_t j = active[a];
        Found& found = found_[static_cast<std::size_t>(j)];
        found.clear();
        if (context_.column(j).kind == Kind::cut) {
            look_at_cut(job, w, j, careful);
        } else {
            count_values(job, j, found);
            look_at_values(context_, w, j, found, subsets_);
        }
        floor = std::max(floor, found.key);
    }
    for (std::size_t a = 0; a < job.n_active; ++a) {
        if (context_.column(active[a]).kind != Kind::subset) continue;
        search_subset(context_, w, size_, floor, found_[static_cast<std::size_t>(active[a])],
                      subsets_);
    }
    list_candidates(context_, found_, active, static_cast<std::int64_t>(job.n_active), candidates_);
    return decide(context_, w, active, candidates_);
}

template <class M>
bool CachedSubtrees<M>::search(const Job& job, GrowingNodes& growing) {
    const Whole w = growing.whole(job.id);
    size_ = growing.at(job.id).size;
    Verdict verdict = search_once(job, w, false);
    if (is_unsure(context_, w, verdict)) verdict = search_once(job, w, true);
    if (verdict.attribute < 0) return false;
    Found& found = found_[static_cast<std::size_t>(verdict.attribute)];
    const bool cut = context_.column(verdict.attribute).kind == Kind::cut;
    if (cut && !context_.by_ratio()) settle_cut(found, verdict.target);
    if (!note_test(context_, w, verdict, found, candidates_, growing, job.id, subsets_)) {
        return false;
    }
    if (cut) growing.at(job.id).threshold = threshold(verdict.attribute, found);
    return true;
}

template <class M>
double CachedSubtrees<M>::threshold(std::int64_t j, const Found& found) const {
    if (found.alone) return std::numeric_limits<double>::infinity();
    if (!is_list(j)) return cut_between(found.cut.below, found.cut.above);
    const Item* last = list_of(j) + found.cut.place;
    return cut_between(value(j, last[0]), value(j, last[1]));
}

}  // namespace sortal::trees
