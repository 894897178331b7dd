// The test of a large node: cuts by bins and bounds, subsets and branches by values.
#pragma once

#include "trees/large_nodes.hpp"

namespace sortal::trees {

// The values of a category in a node, from its table.
template <class M, class Cell>
void LargeNodes<M, Cell>::list_values(const LargeNode<Cell>& large, std::int64_t j,
                                      Found& found) const {
    const Cell* cells = large.table.data() + at_[static_cast<std::size_t>(j)];
    const std::int64_t K = context_.n_classes();
    for (std::int64_t v = 0; v < n_codes(j); ++v) {
        const Cell* row = cells + v * width_;
        bool present = false;
        for (std::int64_t k = 0; k < K; ++k) present |= row[k] != 0;
        if (!present) continue;
        found.codes.push_back(static_cast<std::int32_t>(v));
        for (std::int64_t k = 0; k < K; ++k) found.counts.push_back(row[k]);
        if (width_ > K) found.sizes.push_back(row[K]);
    }
}

// The same where there is no table.
template <class M, class Cell>
void LargeNodes<M, Cell>::sort_values(const LargeNode<Cell>& large, std::int64_t j, Found& found,
                                      LargeNodeScratch& s) const {
    const std::int64_t K = context_.n_classes();
    s.pairs.clear();
    with_codes(j, [&](auto codes) {
        for (std::int64_t i = large.begin; i < large.end; ++i) {
            const std::uint32_t row = order_.rows[static_cast<std::size_t>(i)];
            s.pairs.push_back((static_cast<std::uint64_t>(codes[row]) << 32) | row);
        }
    });
    std::sort(s.pairs.begin(), s.pairs.end());
    for (const std::uint64_t pair : s.pairs) {
        const auto code = static_cast<std::int32_t>(pair >> 32);
        const auto row = static_cast<std::int64_t>(pair & 0xffffffffU);
        if (found.codes.empty() || found.codes.back() != code) {
            found.codes.push_back(code);
            found.counts.resize(found.counts.size() + static_cast<std::size_t>(K), 0);
            if (width_ > K) found.sizes.push_back(0);
        }
        const auto k = static_cast<std::size_t>(context_.rows.classes[row]);
        found.counts[found.counts.size() - static_cast<std::size_t>(K) + k] += context_.unit(row);
        if (width_ > K) found.sizes.back() += context_.size(row);
    }
}

// The missing values of a number column in a node.
template <class M, class Cell>
void LargeNodes<M, Cell>::read_missing(const LargeNode<Cell>& large, const Whole& w, std::int64_t j,
                                       Found& found) const {
    const std::int64_t missing = context_.missing_code(j), K = context_.n_classes();
    if (missing < 0) return;
    const Cell* row = large.table.data() + at_[static_cast<std::size_t>(j)] + missing * width_;
    found.missing.counts.assign(row, row + K);
    found.missing.n = sum_of(found.missing.counts.data(), K);
    found.missing.size = width_ > K ? static_cast<std::int64_t>(row[K]) : found.missing.n;
    context_.set_apart(w, found.missing);
}

// What lies on the yes side before any value does.
template <class M, class Cell>
void LargeNodes<M, Cell>::start_side(const Found& found, bool missing_yes, LargeNodeScratch& s,
                                     std::int64_t& n_yes, std::int64_t& size_yes) const {
    if (missing_yes) {
        s.before = found.missing.counts;
        n_yes = found.missing.n;
        size_yes = found.missing.size;
    } else {
        s.before.assign(static_cast<std::size_t>(context_.n_classes()), 0);
        n_yes = size_yes = 0;
    }
}

template <class M, class Cell>
void LargeNodes<M, Cell>::scan_edges(const LargeNode<Cell>& large, const Whole& w, std::int64_t j,
                                     bool careful, LargeNodeScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    found.cuts.clear();
    scan_edges(large, w, j, careful, false, s);
    if (both_sides(found)) scan_edges(large, w, j, careful, true, s);
    found.key = found.cuts.best;
}

// The cuts between bins; `before` is N_v of (ZM 19.12).
template <class M, class Cell>
void LargeNodes<M, Cell>::scan_edges(const LargeNode<Cell>& large, const Whole& node,
                                     std::int64_t j, bool careful, bool missing_yes,
                                     LargeNodeScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const Whole w = found.missing.searched(node);
    const std::int64_t size = found.missing.searched_size(size_);
    const Cell* cells = large.table.data() + at_[static_cast<std::size_t>(j)];
    const std::int64_t K = context_.n_classes(), n_bins = n_scanned(j, found, missing_yes);
    const double base = context_.measure.base(w), near = context_.measure.near(w);
    auto& keys = edge_keys(found, missing_yes);
    keys.resize(static_cast<std::size_t>(n_bins) + 1);
    found.cuts.begin_sequence();
    std::int64_t n_yes = 0, size_yes = 0, last = -1;
    start_side(found, missing_yes, s, n_yes, size_yes);
    const double first = n_yes > 0 ? context_.measure.key(w, s.before.data(), n_yes) : base;
    for (std::int64_t b = 0; b < n_bins; ++b) {
        const Cell* row = cells + b * width_;
        std::int64_t inside = 0;
        for (std::int64_t k = 0; k < K; ++k) inside += row[k];
        double key = first;
        if (inside > 0 && last >= 0) {
            key = careful ? exact_key(context_.measure, w, s.before.data(), n_yes)
                          : context_.measure.key(w, s.before.data(), n_yes);
            if ((careful ? key > base : key > near) && allowed(w, size, n_yes, size_yes)) {
                found.cuts.template add<M>({found.missing.in_node(key), n_yes, last,
                                            CutRecord::after, 0.0, 0.0, missing_yes},
                                           K);
            }
        }
        keys[static_cast<std::size_t>(b)] = key;
        if (inside == 0) continue;
        for (std::int64_t k = 0; k < K; ++k) s.before[static_cast<std::size_t>(k)] += row[k];
        n_yes += inside;
        size_yes += width_ > K ? static_cast<std::int64_t>(row[K]) : inside;
        last = b;
    }
    keys[static_cast<std::size_t>(n_bins)] = base;
}

template <class M, class Cell>
void LargeNodes<M, Cell>::refine(const LargeNode<Cell>& large, const Whole& w, std::int64_t j,
                                 double floor, bool careful, LargeNodeScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    refine(large, w, j, floor, careful, false, s);
    if (both_sides(found)) refine(large, w, j, floor, careful, true, s);
    found.key = found.cuts.best;
}

// The cuts within bins, of those bins whose bound reaches `floor` or the column's own best.
template <class M, class Cell>
void LargeNodes<M, Cell>::refine(const LargeNode<Cell>& large, const Whole& node, std::int64_t j,
                                 double floor, bool careful, bool missing_yes,
                                 LargeNodeScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const Whole w = found.missing.searched(node);
    const Bins& bins = context_.coded.bins[static_cast<std::size_t>(j)];
    const Cell* cells = large.table.data() + at_[static_cast<std::size_t>(j)];
    const std::int64_t K = context_.n_classes(), n_bins = n_scanned(j, found, missing_yes);
    const auto& keys = edge_keys(found, missing_yes);
    const auto need = [&] {
        if (careful) return none;
        const double peak = std::max(floor, found.cuts.best), least = peak - M::tau(peak, K);
        if (!found.missing.apart) return least;
        const double known = found.missing.in_known(least);
        return known - M::tau(std::max(known, peak), K);  // and what the change of scale rounds off
    };
    s.inside.resize(static_cast<std::size_t>(K));
    s.which.clear();
    s.bounds.clear();
    s.starts.clear();
    s.sizes.clear();
    std::int64_t n_yes = 0, size_yes = 0;
    start_side(found, missing_yes, s, n_yes, size_yes);
    std::int64_t next = 0;  // the next bin that has rows: its edge is the one after bin b
    for (std::int64_t b = 0; b < std::min(n_bins, bins.size()); ++b) {
        const Cell* row = cells + b * width_;
        std::int64_t inside = 0;
        for (std::int64_t k = 0; k < K; ++k) {
            inside += s.inside[static_cast<std::size_t>(k)] = row[k];
        }
        if (inside == 0) continue;
        if (inside > 1 && bins.mixed[static_cast<std::size_t>(b)]) {
            for (next = b + 1; next < n_bins; ++next) {
                bool any = false;
                for (std::int64_t k = 0; k < K; ++k) any |= cells[next * width_ + k] != 0;
                if (any) break;
            }
            const Between between{s.before.data(),
                                  s.inside.data(),
                                  n_yes,
                                  inside,
                                  keys[static_cast<std::size_t>(b)],
                                  keys[static_cast<std::size_t>(next)]};
            const double least = need();
            const double bound = careful ? 0.0 : bin_bound(context_.measure, w, between, least);
            if (careful || bound >= least) {
                s.which.push_back(b);
                s.bounds.push_back(bound);
                s.starts.insert(s.starts.end(), s.before.begin(), s.before.end());
                s.sizes.push_back(size_yes);
            }
        }
        for (std::int64_t k = 0; k < K; ++k) {
            s.before[static_cast<std::size_t>(k)] += s.inside[static_cast<std::size_t>(k)];
        }
        n_yes += inside;
        size_yes += width_ > K ? static_cast<std::int64_t>(row[K]) : inside;
    }
    if (s.which.empty()) return;
    gather_values(large, j, s);
    for (std::size_t slot = 0; slot < s.which.size(); ++slot) {
        if (careful || s.bounds[slot] >= need()) scan_bin(w, j, slot, careful, missing_yes, s);
    }
}

// The values of the rows in the bins that are to be sorted.
template <class M, class Cell>
void LargeNodes<M, Cell>::gather_values(const LargeNode<Cell>& large, std::int64_t j,
                                        LargeNodeScratch& s) {
    std::int16_t slot_of[256];
    std::fill(std::begin(slot_of), std::end(slot_of), std::int16_t{-1});
    if (s.items.size() < s.which.size()) s.items.resize(s.which.size());
    for (std::size_t slot = 0; slot < s.which.size(); ++slot) {
        slot_of[s.which[slot]] = static_cast<std::int16_t>(slot);
        s.items[slot].clear();
    }
    const std::uint8_t* codes = context_.coded.bytes[static_cast<std::size_t>(j)].data();
    const Column<double> x = context_.column(j).numbers;
    for (std::int64_t i = large.begin; i < large.end; ++i) {
        const std::uint32_t row = order_.rows[static_cast<std::size_t>(i)];
        const std::int16_t slot = slot_of[codes[row]];
        if (slot >= 0) s.items[static_cast<std::size_t>(slot)].push_back({x[row], row});
    }
}

template <class M, class Cell>
void LargeNodes<M, Cell>::scan_bin(const Whole& w, std::int64_t j, std::size_t slot, bool careful,
                                   bool missing_yes, LargeNodeScratch& s) {
    auto& items = s.items[slot];
    Found& found = found_[static_cast<std::size_t>(j)];
    const std::int64_t size = found.missing.searched_size(size_);
    const std::int64_t K = context_.n_classes(), bin = s.which[slot];
    std::int64_t* yes = s.starts.data() + static_cast<std::int64_t>(slot) * K;
    std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    const double base = context_.measure.base(w), near = context_.measure.near(w);
    std::int64_t n_yes = sum_of(yes, K);
    std::int64_t size_yes = s.sizes[slot];
    found.cuts.begin_sequence();
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
        const std::int64_t row = items[i].row, unit = context_.unit(row);
        yes[context_.rows.classes[row]] += unit;
        n_yes += unit;
        size_yes += context_.size(row);
        if (!(items[i].x < items[i + 1].x) || !allowed(w, size, n_yes, size_yes)) continue;
        const double key = careful ? exact_key(context_.measure, w, yes, n_yes)
                                   : context_.measure.key(w, yes, n_yes);
        if (careful ? key > base : key > near) {
            found.cuts.template add<M>(
                {found.missing.in_node(key), n_yes, bin, static_cast<std::int64_t>(i), items[i].x,
                 items[i + 1].x, missing_yes},
                K);
        }
    }
}

// All cuts of a column, keys near zero included.
template <class M, class Cell>
void LargeNodes<M, Cell>::look_carefully(const LargeNode<Cell>& large, const Whole& w,
                                         std::int64_t j, LargeNodeScratch& s) {
    scan_edges(large, w, j, true, s);
    refine(large, w, j, none, true, s);
}

// A column's cuts by themselves, where the choice is by ratio and needs each attribute's best.
template <class M, class Cell>
void LargeNodes<M, Cell>::look_at_cut(const LargeNode<Cell>& large, const Whole& w, std::int64_t j,
                                      LargeNodeScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const Whole searched = found.missing.searched(w);
    const double near = found.missing.in_node(context_.measure.near(searched));
    refine(large, w, j, none, false, s);
    if (!(found.key - M::tau(found.key, w.n_classes) > near)) look_carefully(large, w, j, s);
    if (found.key == none) return;
    settle_cut(found, found.key - M::tau(found.key, w.n_classes));
    found.information = sides_information(context_, w, found, found.cut.n_yes);
}

template <class M, class Cell>
Verdict LargeNodes<M, Cell>::search_once(const LargeNode<Cell>& large, const Whole& w, bool careful,
                                         Workers* workers, std::vector<LargeNodeScratch>& scratch) {
    each_column(workers, large.n_rows(), [&](std::int64_t j, int worker) {
        LargeNodeScratch& s = scratch[static_cast<std::size_t>(worker)];
        Found& found = found_[static_cast<std::size_t>(j)];
        const Kind kind = context_.column(j).kind;
        found.clear();
        if (kind == Kind::cut) {
            read_missing(large, w, j, found);
            scan_edges(large, w, j, careful, s);
            if (context_.by_ratio()) {
                look_at_cut(large, w, j, s);
                part_missing(context_, w, size_, found);
            }
            return;
        }
        if (at_[static_cast<std::size_t>(j)] < 0) {
            sort_values(large, j, found, s);
        } else {
            list_values(large, j, found);
        }
        look_at_values(context_, w, j, found, s.subsets);
    });
    const auto floor_of = [&] {
        double floor = -std::numeric_limits<double>::infinity();
        for (const auto& found : found_) floor = std::max(floor, found.key);
        return floor;
    };
    if (!context_.by_ratio()) {
        // the column of the best cut so far goes first: what it reaches spares the others
        std::int64_t first = 0;
        for (std::int64_t j = 0; j < context_.n_columns(); ++j) {
            const auto at = static_cast<std::size_t>(j);
            if (found_[at].cuts.best > found_[static_cast<std::size_t>(first)].cuts.best) first = j;
        }
        const auto refine_cut = [&](std::int64_t j, double floor, int worker) {
            if (context_.column(j).kind != Kind::cut) return;
            LargeNodeScratch& s = scratch[static_cast<std::size_t>(worker)];
            Found& found = found_[static_cast<std::size_t>(j)];
            refine(large, w, j, floor, careful, s);
            if (found.key > none || context_.options.policy != MissingPolicy::branch) return;
            // only where the known rows have no cut at all are they parted from the missing values
            if (found.missing.n > 0) look_carefully(large, w, j, s);
            part_missing(context_, w, size_, found);
        };
        refine_cut(first, floor_of(), 0);
        const double floor = floor_of();
        each_column(workers, large.n_rows(), [&](std::int64_t j, int worker) {
            if (j != first) refine_cut(j, floor, worker);
        });
    }
    const double floor = floor_of();
    each_column(workers, large.n_rows(), [&](std::int64_t j, int worker) {
        if (context_.column(j).kind != Kind::subset) return;
        search_subset(context_, w, size_, floor, found_[static_cast<std::size_t>(j)],
                      scratch[static_cast<std::size_t>(worker)].subsets);
    });
    list_candidates(context_, found_, active_.data(), context_.n_columns(), candidates_);
    return decide(context_, w, active_.data(), candidates_);
}

template <class M, class Cell>
bool LargeNodes<M, Cell>::search(const LargeNode<Cell>& large, GrowingNodes& growing,
                                 Workers* workers, std::vector<LargeNodeScratch>& scratch) {
    const Whole w = growing.whole(large.id);
    size_ = growing.at(large.id).size;
    Verdict verdict = search_once(large, w, false, workers, scratch);
    if (is_unsure(context_, w, verdict)) {
        verdict = search_once(large, w, true, workers, scratch);
    }
    if (verdict.attribute < 0) return false;
    Found& found = found_[static_cast<std::size_t>(verdict.attribute)];
    const Kind kind = context_.column(verdict.attribute).kind;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    if (found.alone && kind == Kind::cut) {
        threshold = std::numeric_limits<double>::infinity();
    } else if (kind == Kind::cut) {
        settle_cut(found, verdict.target);
        CutRecord& cut = found.cut;
        if (cut.place == CutRecord::after) find_neighbors(large, verdict.attribute, cut);
        threshold = cut_between(cut.below, cut.above);
    }
    if (!note_test(context_, w, verdict, found, candidates_, growing, large.id,
                   scratch[0].subsets)) {
        return false;
    }
    growing.at(large.id).threshold = threshold;
    return true;
}

// The values on both sides of a cut between two bins.
template <class M, class Cell>
void LargeNodes<M, Cell>::find_neighbors(const LargeNode<Cell>& large, std::int64_t j,
                                         CutRecord& cut) const {
    const std::uint8_t* codes = context_.coded.bytes[static_cast<std::size_t>(j)].data();
    const Column<double> x = context_.column(j).numbers;
    const std::int64_t missing = context_.missing_code(j);
    cut.below = -std::numeric_limits<double>::infinity();
    cut.above = std::numeric_limits<double>::infinity();
    std::int64_t next =
        n_codes(j) - (context_.column(j).has_missing ? 1 : 0);  // missing values have no value
    for (std::int64_t i = large.begin; i < large.end; ++i) {
        const std::uint32_t row = order_.rows[static_cast<std::size_t>(i)];
        const std::int64_t code = codes[row];
        if (code == cut.bin) {
            cut.below = std::max(cut.below, x[row]);
        } else if (code > cut.bin && code <= next && code != missing) {
            if (code < next || x[row] < cut.above) cut.above = x[row];
            next = code;
        }
    }
}

}  // namespace sortal::trees
