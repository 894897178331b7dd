// The test of a limb: cuts by bins and bounds, subsets and branches by values.
#pragma once

#include "limbs.hpp"

namespace sortal {

// The values of a category in a node, from its table.
template <class M, class Cell>
void Limbs<M, Cell>::list_values(const Limb<Cell>& limb, std::int64_t j, Found& found) const {
    const Cell* cells = limb.table.data() + at_[static_cast<std::size_t>(j)];
    const std::int64_t K = field_.n_classes();
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
void Limbs<M, Cell>::sort_values(const Limb<Cell>& limb, std::int64_t j, Found& found,
                                 LimbScratch& s) const {
    const std::int64_t K = field_.n_classes();
    s.pairs.clear();
    with_codes(j, [&](auto codes) {
        for (std::int64_t i = limb.begin; i < limb.end; ++i) {
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
        const auto k = static_cast<std::size_t>(field_.rows.classes[row]);
        found.counts[found.counts.size() - static_cast<std::size_t>(K) + k] += field_.unit(row);
        if (width_ > K) found.sizes.back() += field_.size(row);
    }
}

// The holes of a number column in a node.
template <class M, class Cell>
void Limbs<M, Cell>::read_holes(const Limb<Cell>& limb, const Whole& w, std::int64_t j,
                                Found& found) const {
    const std::int64_t hole = field_.hole_code(j), K = field_.n_classes();
    if (hole < 0) return;
    const Cell* row = limb.table.data() + at_[static_cast<std::size_t>(j)] + hole * width_;
    found.holes.counts.assign(row, row + K);
    found.holes.n = sum_of(found.holes.counts.data(), K);
    found.holes.size = width_ > K ? static_cast<std::int64_t>(row[K]) : found.holes.n;
    if (field_.by_side()) return;
    found.holes.set_apart(field_.measure, w, field_.growth.holes == HolePolicy::branch);
}

// What lies on the yes side before any value does.
template <class M, class Cell>
void Limbs<M, Cell>::start_side(const Found& found, bool holes_yes, LimbScratch& s,
                                std::int64_t& n_yes, std::int64_t& size_yes) const {
    if (holes_yes) {
        s.before = found.holes.counts;
        n_yes = found.holes.n;
        size_yes = found.holes.size;
    } else {
        s.before.assign(static_cast<std::size_t>(field_.n_classes()), 0);
        n_yes = size_yes = 0;
    }
}

template <class M, class Cell>
void Limbs<M, Cell>::scan_edges(const Limb<Cell>& limb, const Whole& w, std::int64_t j, bool careful,
                                LimbScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    found.cuts.clear();
    scan_edges(limb, w, j, careful, false, s);
    if (both_sides(found)) scan_edges(limb, w, j, careful, true, s);
    found.key = found.cuts.best;
}

// The cuts between bins; `before` is N_v of (ZM 19.12).
template <class M, class Cell>
void Limbs<M, Cell>::scan_edges(const Limb<Cell>& limb, const Whole& node, std::int64_t j,
                                bool careful, bool holes_yes, LimbScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const Whole w = found.holes.searched(node);
    const std::int64_t size = found.holes.searched_size(size_);
    const Cell* cells = limb.table.data() + at_[static_cast<std::size_t>(j)];
    const std::int64_t K = field_.n_classes(), n_bins = n_scanned(j, found, holes_yes);
    const double base = field_.measure.base(w), near = field_.measure.near(w);
    auto& keys = edge_keys(found, holes_yes);
    keys.resize(static_cast<std::size_t>(n_bins) + 1);
    found.cuts.begin_sequence();
    std::int64_t n_yes = 0, size_yes = 0, last = -1;
    start_side(found, holes_yes, s, n_yes, size_yes);
    const double first = n_yes > 0 ? field_.measure.key(w, s.before.data(), n_yes) : base;
    for (std::int64_t b = 0; b < n_bins; ++b) {
        const Cell* row = cells + b * width_;
        std::int64_t inside = 0;
        for (std::int64_t k = 0; k < K; ++k) inside += row[k];
        double key = first;
        if (inside > 0 && last >= 0) {
            key = careful ? exact_key(field_.measure, w, s.before.data(), n_yes)
                          : field_.measure.key(w, s.before.data(), n_yes);
            if ((careful ? key > base : key > near) && allowed(w, size, n_yes, size_yes)) {
                found.cuts.template add<M>({found.holes.in_node(key), n_yes, last, CutRecord::after,
                                            0.0, 0.0, holes_yes},
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
void Limbs<M, Cell>::refine(const Limb<Cell>& limb, const Whole& w, std::int64_t j, double floor,
                            bool careful, LimbScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    refine(limb, w, j, floor, careful, false, s);
    if (both_sides(found)) refine(limb, w, j, floor, careful, true, s);
    found.key = found.cuts.best;
}

// The cuts within bins, of those bins whose bound reaches `floor` or the column's own best.
template <class M, class Cell>
void Limbs<M, Cell>::refine(const Limb<Cell>& limb, const Whole& node, std::int64_t j, double floor,
                            bool careful, bool holes_yes, LimbScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const Whole w = found.holes.searched(node);
    const Bins& bins = field_.coded.bins[static_cast<std::size_t>(j)];
    const Cell* cells = limb.table.data() + at_[static_cast<std::size_t>(j)];
    const std::int64_t K = field_.n_classes(), n_bins = n_scanned(j, found, holes_yes);
    const auto& keys = edge_keys(found, holes_yes);
    const auto need = [&] {
        if (careful) return none;
        const double peak = std::max(floor, found.cuts.best), least = peak - M::tau(peak, K);
        if (!found.holes.apart) return least;
        const double known = found.holes.in_known(least);
        return known - M::tau(std::max(known, peak), K);  // and what the change of scale rounds off
    };
    s.inside.resize(static_cast<std::size_t>(K));
    s.which.clear();
    s.bounds.clear();
    s.starts.clear();
    s.sizes.clear();
    std::int64_t n_yes = 0, size_yes = 0;
    start_side(found, holes_yes, s, n_yes, size_yes);
    std::int64_t next = 0;  // the next bin that has rows: its edge is the one after bin b
    for (std::int64_t b = 0; b < std::min(n_bins, bins.size()); ++b) {
        const Cell* row = cells + b * width_;
        std::int64_t inside = 0;
        for (std::int64_t k = 0; k < K; ++k) inside += s.inside[static_cast<std::size_t>(k)] = row[k];
        if (inside == 0) continue;
        if (inside > 1 && bins.mixed[static_cast<std::size_t>(b)]) {
            for (next = b + 1; next < n_bins; ++next) {
                bool any = false;
                for (std::int64_t k = 0; k < K; ++k) any |= cells[next * width_ + k] != 0;
                if (any) break;
            }
            const Between between{s.before.data(), s.inside.data(), n_yes, inside,
                                  keys[static_cast<std::size_t>(b)],
                                  keys[static_cast<std::size_t>(next)]};
            const double least = need();
            const double bound =
                careful ? 0.0 : bin_bound(field_.measure, w, between, least);
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
    gather_values(limb, j, s);
    for (std::size_t slot = 0; slot < s.which.size(); ++slot) {
        if (careful || s.bounds[slot] >= need()) scan_bin(w, j, slot, careful, holes_yes, s);
    }
}

// The values of the rows in the bins that are to be sorted.
template <class M, class Cell>
void Limbs<M, Cell>::gather_values(const Limb<Cell>& limb, std::int64_t j, LimbScratch& s) {
    std::int16_t slot_of[256];
    std::fill(std::begin(slot_of), std::end(slot_of), std::int16_t{-1});
    if (s.items.size() < s.which.size()) s.items.resize(s.which.size());
    for (std::size_t slot = 0; slot < s.which.size(); ++slot) {
        slot_of[s.which[slot]] = static_cast<std::int16_t>(slot);
        s.items[slot].clear();
    }
    const std::uint8_t* codes = field_.coded.bytes[static_cast<std::size_t>(j)].data();
    const Column<double> x = field_.column(j).numbers;
    for (std::int64_t i = limb.begin; i < limb.end; ++i) {
        const std::uint32_t row = order_.rows[static_cast<std::size_t>(i)];
        const std::int16_t slot = slot_of[codes[row]];
        if (slot >= 0) s.items[static_cast<std::size_t>(slot)].push_back({x[row], row});
    }
}

template <class M, class Cell>
void Limbs<M, Cell>::scan_bin(const Whole& w, std::int64_t j, std::size_t slot, bool careful,
                              bool holes_yes, LimbScratch& s) {
    auto& items = s.items[slot];
    Found& found = found_[static_cast<std::size_t>(j)];
    const std::int64_t size = found.holes.searched_size(size_);
    const std::int64_t K = field_.n_classes(), bin = s.which[slot];
    std::int64_t* yes = s.starts.data() + static_cast<std::int64_t>(slot) * K;
    std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    const double base = field_.measure.base(w), near = field_.measure.near(w);
    std::int64_t n_yes = sum_of(yes, K);
    std::int64_t size_yes = s.sizes[slot];
    found.cuts.begin_sequence();
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
        const std::int64_t row = items[i].row, unit = field_.unit(row);
        yes[field_.rows.classes[row]] += unit;
        n_yes += unit;
        size_yes += field_.size(row);
        if (!(items[i].x < items[i + 1].x) || !allowed(w, size, n_yes, size_yes)) continue;
        const double key = careful ? exact_key(field_.measure, w, yes, n_yes)
                                   : field_.measure.key(w, yes, n_yes);
        if (careful ? key > base : key > near) {
            found.cuts.template add<M>({found.holes.in_node(key), n_yes, bin,
                                        static_cast<std::int64_t>(i), items[i].x, items[i + 1].x,
                                        holes_yes},
                                       K);
        }
    }
}

// All cuts of a column, keys near zero included.
template <class M, class Cell>
void Limbs<M, Cell>::look_carefully(const Limb<Cell>& limb, const Whole& w, std::int64_t j,
                                    LimbScratch& s) {
    scan_edges(limb, w, j, true, s);
    refine(limb, w, j, none, true, s);
}

// A column's cuts by themselves, where the choice is by ratio and needs each attribute's best.
template <class M, class Cell>
void Limbs<M, Cell>::look_at_cut(const Limb<Cell>& limb, const Whole& w, std::int64_t j,
                                 LimbScratch& s) {
    Found& found = found_[static_cast<std::size_t>(j)];
    const Whole searched = found.holes.searched(w);
    const double near = found.holes.in_node(field_.measure.near(searched));
    refine(limb, w, j, none, false, s);
    if (!(found.key - M::tau(found.key, w.n_classes) > near)) look_carefully(limb, w, j, s);
    if (found.key == none) return;
    const CutRecord* cut = found.cuts.lowest(found.key - M::tau(found.key, w.n_classes));
    found.information = sides_information(field_, w, found, cut->n_yes);
}

template <class M, class Cell>
Verdict Limbs<M, Cell>::search_once(const Limb<Cell>& limb, const Whole& w, bool careful,
                                    Workers* workers, std::vector<LimbScratch>& scratch) {
    each_column(workers, limb.n_rows(), [&](std::int64_t j, int worker) {
        LimbScratch& s = scratch[static_cast<std::size_t>(worker)];
        Found& found = found_[static_cast<std::size_t>(j)];
        const Kind kind = field_.column(j).kind;
        found.clear();
        if (kind == Kind::cut) {
            read_holes(limb, w, j, found);
            scan_edges(limb, w, j, careful, s);
            if (field_.by_ratio()) {
                look_at_cut(limb, w, j, s);
                part_holes(field_, w, size_, found);
            }
            return;
        }
        if (at_[static_cast<std::size_t>(j)] < 0) {
            sort_values(limb, j, found, s);
        } else {
            list_values(limb, j, found);
        }
        look_at_values(field_, w, j, found, s.subsets);
    });
    const auto floor_of = [&] {
        double floor = -std::numeric_limits<double>::infinity();
        for (const auto& found : found_) floor = std::max(floor, found.key);
        return floor;
    };
    if (!field_.by_ratio()) {
        // the column of the best cut so far goes first: what it reaches spares the others
        std::int64_t first = 0;
        for (std::int64_t j = 0; j < field_.n_columns(); ++j) {
            const auto at = static_cast<std::size_t>(j);
            if (found_[at].cuts.best > found_[static_cast<std::size_t>(first)].cuts.best) first = j;
        }
        const auto refine_cut = [&](std::int64_t j, double floor, int worker) {
            if (field_.column(j).kind != Kind::cut) return;
            LimbScratch& s = scratch[static_cast<std::size_t>(worker)];
            Found& found = found_[static_cast<std::size_t>(j)];
            refine(limb, w, j, floor, careful, s);
            if (found.key > none || field_.growth.holes != HolePolicy::branch) return;
            // only where the known rows have no cut at all are they parted from the holes
            if (found.holes.n > 0) look_carefully(limb, w, j, s);
            part_holes(field_, w, size_, found);
        };
        refine_cut(first, floor_of(), 0);
        const double floor = floor_of();
        each_column(workers, limb.n_rows(), [&](std::int64_t j, int worker) {
            if (j != first) refine_cut(j, floor, worker);
        });
    }
    const double floor = floor_of();
    each_column(workers, limb.n_rows(), [&](std::int64_t j, int worker) {
        if (field_.column(j).kind != Kind::subset) return;
        search_subset(field_, w, size_, floor, found_[static_cast<std::size_t>(j)],
                      scratch[static_cast<std::size_t>(worker)].subsets);
    });
    list_candidates(field_, found_, active_.data(), field_.n_columns(), candidates_);
    return decide(field_, w, active_.data(), candidates_);
}

template <class M, class Cell>
bool Limbs<M, Cell>::search(const Limb<Cell>& limb, Sprouts& sprouts, Workers* workers,
                            std::vector<LimbScratch>& scratch) {
    const Whole w = sprouts.whole(limb.id);
    size_ = sprouts.at(limb.id).size;
    Verdict verdict = search_once(limb, w, false, workers, scratch);
    if (is_unsure(field_, w, verdict)) {
        verdict = search_once(limb, w, true, workers, scratch);
    }
    if (verdict.attribute < 0) return false;
    Found& found = found_[static_cast<std::size_t>(verdict.attribute)];
    const Kind kind = field_.column(verdict.attribute).kind;
    double threshold = std::numeric_limits<double>::quiet_NaN();
    if (found.alone && kind == Kind::cut) {
        threshold = std::numeric_limits<double>::infinity();
    } else if (kind == Kind::cut) {
        CutRecord cut = *found.cuts.lowest(verdict.target);
        if (cut.place == CutRecord::after) find_neighbors(limb, verdict.attribute, cut);
        found.chosen = cut.key;
        found.n_yes = cut.n_yes;
        found.holes_yes = cut.holes_yes;
        threshold = cut_between(cut.below, cut.above);
    }
    if (!note_test(field_, w, verdict, found, candidates_, sprouts, limb.id, scratch[0].subsets)) {
        return false;
    }
    sprouts.at(limb.id).threshold = threshold;
    return true;
}

// The values on both sides of a cut between two bins.
template <class M, class Cell>
void Limbs<M, Cell>::find_neighbors(const Limb<Cell>& limb, std::int64_t j, CutRecord& cut) const {
    const std::uint8_t* codes = field_.coded.bytes[static_cast<std::size_t>(j)].data();
    const Column<double> x = field_.column(j).numbers;
    const std::int64_t hole = field_.hole_code(j);
    cut.below = -std::numeric_limits<double>::infinity();
    cut.above = std::numeric_limits<double>::infinity();
    std::int64_t next = n_codes(j) - (field_.column(j).holes ? 1 : 0);  // holes have no value
    for (std::int64_t i = limb.begin; i < limb.end; ++i) {
        const std::uint32_t row = order_.rows[static_cast<std::size_t>(i)];
        const std::int64_t code = codes[row];
        if (code == cut.bin) {
            cut.below = std::max(cut.below, x[row]);
        } else if (code > cut.bin && code <= next && code != hole) {
            if (code < next || x[row] < cut.above) cut.above = x[row];
            next = code;
        }
    }
}

}  // namespace sortal
