// The test of a node within a twig.
#pragma once

#include "twigs.hpp"

namespace sortal {

// Where every row weighs one, counts move by one from side to side, and the key with them. A cut
// leaves at least `least` rows on both sides.
//
// Gini: as sum (n_k - l_k)^2 = sum n_k^2 - 2 sum n_k l_k + sum l_k^2, one count moves with a row.
// Reciprocals show quickly, and closely enough, that a cut cannot be the best.
template <class M>
void Twigs<M>::scan_gini(const Job& job, const Whole& w, std::int64_t j, std::int64_t least,
                         Peak& peak) {
    const Item* list = list_of(j);
    const Item* ranks = ranks_of(j);
    const double* inverse = inverse_.data();
    std::int64_t* yes = yes_.data();
    std::int64_t squares = 0, cross = 0, whole = 0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) whole += w.counts[k] * w.counts[k];
    double enough = peak.key * (1.0 - 0x1p-49);
    for (std::int64_t i = job.begin; i < job.end - least; ++i) {
        const Item item = list[i];
        const Label k = labels_[item];
        squares += 2 * yes[k]++ + 1;
        cross += w.counts[k];
        const std::int64_t n_yes = i - job.begin + 1, n_no = job.end - 1 - i;
        const auto a = static_cast<double>(squares);
        const auto b = static_cast<double>(whole + squares - 2 * cross);
        if (a * inverse[n_yes] + b * inverse[n_no] < enough) continue;
        if (n_yes < least || ranks[item] == ranks[list[i + 1]]) continue;
        peak.meet(a / static_cast<double>(n_yes) + b / static_cast<double>(n_no), i, w.n_classes);
        enough = peak.key * (1.0 - 0x1p-49);
    }
}

// Gain: four logarithms change with a row.
template <class M>
void Twigs<M>::scan_gain(const Job& job, const Whole& w, std::int64_t j, std::int64_t least,
                         Peak& peak) {
    const Item* list = list_of(j);
    const Item* ranks = ranks_of(j);
    const Logs& logs = field_.logs;
    std::int64_t* yes = yes_.data();
    std::int64_t units = 0;
    for (std::int64_t k = 0; k < w.n_classes; ++k) units += logs(w.counts[k]);
    for (std::int64_t i = job.begin; i < job.end - least; ++i) {
        const Item item = list[i];
        const Label k = labels_[item];
        const std::int64_t no = w.counts[k] - yes[k];
        units += logs(yes[k] + 1) - logs(yes[k]) + logs(no - 1) - logs(no);
        ++yes[k];
        const std::int64_t n_yes = i - job.begin + 1;
        if (n_yes < least || ranks[item] == ranks[list[i + 1]]) continue;
        peak.meet(static_cast<double>(units - logs(n_yes) - logs(w.n - n_yes)), i, w.n_classes);
    }
}

template <class M>
void Twigs<M>::scan_plain(const Job& job, const Whole& w, std::int64_t j) {
    const Limits& limits = field_.growth.rules.limits;
    const std::int64_t least = std::max<std::int64_t>({1, limits.size, limits.units});
    yes_.assign(static_cast<std::size_t>(w.n_classes), 0);
    Peak peak{field_.measure.near(w)};
    if constexpr (std::is_same_v<M, Gini>) {
        scan_gini(job, w, j, least, peak);
    } else {
        scan_gain(job, w, j, least, peak);
    }
    if (peak.place < 0) return;
    Found& found = found_[static_cast<std::size_t>(j)];
    found.key = peak.key;
    found.place = peak.place;
    found.n_yes = peak.place - job.begin + 1;
    found.close = peak.close;
}

// (ZM Alg. 19.2) for any weights and any measure, and careful where a key may be rounding alone;
// `yes_` is N_v of (ZM 19.12).
template <class M>
void Twigs<M>::scan(const Job& job, const Whole& w, std::int64_t j, bool careful) {
    const Limits& limits = field_.growth.rules.limits;
    const Item* list = list_of(j);
    const Item* ranks = ranks_of(j);
    Found& found = found_[static_cast<std::size_t>(j)];
    yes_.assign(static_cast<std::size_t>(w.n_classes), 0);
    Peak peak{careful ? field_.measure.base(w) : field_.measure.near(w)};
    std::int64_t n_yes = 0, size_yes = 0;
    for (std::int64_t i = job.begin; i + 1 < job.end; ++i) {
        const Item item = list[i];
        const std::int64_t u = unit(item);
        yes_[labels_[item]] += u;
        n_yes += u;
        size_yes += field_.counts_rows() ? 1 : u;
        if (ranks[item] == ranks[list[i + 1]]) continue;
        if (n_yes < limits.units || size_yes < limits.size) continue;
        if (w.n - n_yes < limits.units || size_ - size_yes < limits.size) break;
        const double key = careful ? exact_key(field_.measure, w, yes_.data(), n_yes)
                                   : field_.measure.key(w, yes_.data(), n_yes);
        if (peak.meet(key, i, w.n_classes)) found.n_yes = n_yes;
    }
    if (peak.place < 0) return;
    found.key = peak.key;
    found.place = peak.place;
    found.close = peak.close;
}

// The cuts of a column of few values, from counts by value.
template <class M>
void Twigs<M>::scan_counted(const Job& job, const Whole& w, std::int64_t j) {
    const Limits& limits = field_.growth.rules.limits;
    const auto K = static_cast<std::size_t>(w.n_classes), width = K + 1;  // the last counts rows
    const Item* ranks = ranks_of(j);
    Found& found = found_[static_cast<std::size_t>(j)];
    if (cells_.size() < few_values * width) cells_.resize(few_values * width, 0);
    std::uint64_t there = 0;
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = items_[static_cast<std::size_t>(i)];
        const Item rank = ranks[item];
        there |= std::uint64_t{1} << rank;
        std::int64_t* cell = cells_.data() + rank * width;
        cell[labels_[item]] += unit(item);
        ++cell[K];
    }
    yes_.assign(K, 0);
    std::int64_t n_yes = 0, size_yes = 0;
    const double near = field_.measure.near(w);
    while (there != 0) {
        const auto rank = static_cast<std::size_t>(std::countr_zero(there));
        there &= there - 1;
        std::int64_t* cell = cells_.data() + rank * width;
        std::int64_t units = 0;
        for (std::size_t k = 0; k < K; ++k) {
            yes_[k] += cell[k];
            units += cell[k];
        }
        n_yes += units;
        size_yes += field_.counts_rows() ? cell[K] : units;
        std::fill(cell, cell + width, 0);
        if (there == 0 || n_yes < limits.units || size_yes < limits.size) continue;
        if (w.n - n_yes < limits.units || size_ - size_yes < limits.size) continue;
        double key = field_.measure.key(w, yes_.data(), n_yes);
        if (key <= near) key = exact_key(field_.measure, w, yes_.data(), n_yes);
        if (key == none) continue;
        const double* values = few_.data() + static_cast<std::size_t>(j) * few_values;
        const double above = values[std::countr_zero(there)];
        found.cuts.template add<M>(
            {key, n_yes, static_cast<std::int64_t>(rank), 0, values[rank], above}, w.n_classes);
    }
    found.key = found.cuts.best;
}

template <class M>
void Twigs<M>::look_at_cut(const Job& job, const Whole& w, std::int64_t j, bool careful) {
    Found& found = found_[static_cast<std::size_t>(j)];
    if (!is_list(j)) {
        scan_counted(job, w, j);
    } else if (careful || std::is_same_v<M, Cart> || !units_.empty()) {
        scan(job, w, j, careful);
    } else if constexpr (!std::is_same_v<M, Cart>) {
        scan_plain(job, w, j);
    }
    if (!field_.by_ratio()) return;
    if (is_list(j) && !(found.key - M::tau(found.key, w.n_classes) > field_.measure.near(w))) {
        found.key = none;
        found.place = -1;
        scan(job, w, j, true);
    }
    if (found.key == none) return;
    settle_cut(job, w, {j, found.key, found.key - M::tau(found.key, w.n_classes)}, found);
    found.information = cut_information(field_, w.n, found.n_yes);
}

// The lowest of the cuts that count as equal to the best.
template <class M>
void Twigs<M>::settle_cut(const Job& job, const Whole& w, const Verdict& verdict, Found& found) {
    const Limits& limits = field_.growth.rules.limits;
    const std::int64_t j = verdict.attribute;
    if (!is_list(j)) {
        const CutRecord* cut = found.cuts.lowest(verdict.target);
        found.chosen = cut->key;
        found.place = cut->bin;
        found.n_yes = cut->n_yes;
        return;
    }
    found.chosen = found.key;
    if (!found.close) return;
    const Item* list = list_of(j);
    const Item* ranks = ranks_of(j);
    yes_.assign(static_cast<std::size_t>(w.n_classes), 0);
    std::int64_t n_yes = 0, size_yes = 0;
    for (std::int64_t i = job.begin; i < found.place; ++i) {
        const std::int64_t u = unit(list[i]);
        yes_[labels_[list[i]]] += u;
        n_yes += u;
        size_yes += field_.counts_rows() ? 1 : u;
        if (ranks[list[i]] == ranks[list[i + 1]]) continue;
        if (n_yes < limits.units || size_yes < limits.size) continue;
        const double key = exact_key(field_.measure, w, yes_.data(), n_yes);
        if (key < verdict.target) continue;
        found.chosen = key;
        found.place = i;
        found.n_yes = n_yes;
        break;
    }
}

// A category's values in a node with their counts. (ZM 19.19)
template <class M>
void Twigs<M>::count_values(const Job& job, std::int64_t j, Found& found) {
    const auto at = static_cast<std::size_t>(j), K = static_cast<std::size_t>(field_.n_classes());
    const std::size_t width = K + 1;  // the last counts rows
    const Item* ranks = ranks_of(j);
    const std::int32_t* present = present_.data() + present_at_[at];
    const std::size_t n_present = present_at_[at + 1] - present_at_[at];
    if (cells_.size() < n_present * width) cells_.resize(n_present * width, 0);
    touched_.clear();
    for (std::int64_t i = job.begin; i < job.end; ++i) {
        const Item item = items_[static_cast<std::size_t>(i)];
        std::int64_t* cell = cells_.data() + ranks[item] * width;
        if (cell[K]++ == 0) touched_.push_back(ranks[item]);
        cell[labels_[item]] += unit(item);
    }
    std::sort(touched_.begin(), touched_.end());
    for (const Item v : touched_) {
        std::int64_t* cell = cells_.data() + v * width;
        found.codes.push_back(present[v]);
        found.counts.insert(found.counts.end(), cell, cell + K);
        if (field_.counts_rows()) found.sizes.push_back(cell[K]);
        std::fill(cell, cell + width, 0);
    }
}

template <class M>
Verdict Twigs<M>::search_once(const Job& job, const Whole& w, bool careful) {
    const std::int32_t* active = active_.data() + job.active;
    double floor = none;
    for (std::size_t a = 0; a < job.n_active; ++a) {
        const std::int64_t j = active[a];
        Found& found = found_[static_cast<std::size_t>(j)];
        found.clear();
        if (field_.column(j).kind == Kind::cut) {
            look_at_cut(job, w, j, careful);
        } else {
            count_values(job, j, found);
            look_at_values(field_, w, field_.column(j).kind, found, subsets_);
        }
        floor = std::max(floor, found.key);
    }
    for (std::size_t a = 0; a < job.n_active; ++a) {
        if (field_.column(active[a]).kind != Kind::subset) continue;
        search_subset(field_, w, floor, found_[static_cast<std::size_t>(active[a])], subsets_);
    }
    list_candidates(field_, found_, active, static_cast<std::int64_t>(job.n_active), candidates_);
    return decide(field_, w, active, candidates_);
}

template <class M>
bool Twigs<M>::search(const Job& job, Sprouts& sprouts) {
    const Whole w = sprouts.whole(job.id);
    size_ = sprouts.at(job.id).size;
    Verdict verdict = search_once(job, w, false);
    if (!field_.by_ratio() && (verdict.attribute < 0 || verdict.target <= field_.measure.near(w))) {
        verdict = search_once(job, w, true);
    }
    if (verdict.attribute < 0) return false;
    Found& found = found_[static_cast<std::size_t>(verdict.attribute)];
    const bool cut = field_.column(verdict.attribute).kind == Kind::cut;
    if (cut && !field_.by_ratio()) settle_cut(job, w, verdict, found);
    if (!note_test(field_, w, verdict, found, candidates_, sprouts, job.id, subsets_)) return false;
    if (cut) sprouts.at(job.id).threshold = threshold(verdict.attribute, found);
    return true;
}

template <class M>
double Twigs<M>::threshold(std::int64_t j, const Found& found) const {
    if (!is_list(j)) {
        for (const CutRecord& cut : found.cuts.records) {
            if (cut.bin == found.place) return threshold_between(cut.below, cut.above);
        }
    }
    const Item* list = list_of(j);
    return threshold_between(value(j, list[found.place]), value(j, list[found.place + 1]));
}

}  // namespace sortal
