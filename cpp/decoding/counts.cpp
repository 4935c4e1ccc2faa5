#include "decoding/counts.hpp"

#include <algorithm>

namespace trelliswork {

void CountRows::finish() {
    n_rows = static_cast<int>(row_offsets.size()) - 1;
    n_events = static_cast<int>(event_offsets.size()) - 1;
    least.assign(static_cast<std::size_t>(n_rows), 0.0);
    most = least;
    std::vector<std::int64_t> added(static_cast<std::size_t>(n_quantities), 0);
    for (int e = 0; e < n_events; ++e) {
        for (auto k = event_offsets[e]; k < event_offsets[e + 1]; ++k) {
            added[event_counts[k].quantity] = event_counts[k].times;
        }
        for (int i = 0; i < n_rows; ++i) {
            double total = 0.0;
            for (auto k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
                total += static_cast<double>(row_counts[k].times * added[row_counts[k].quantity]);
            }
            least[i] = std::min(least[i], total);
            most[i] = std::max(most[i], total);
        }
        for (auto k = event_offsets[e]; k < event_offsets[e + 1]; ++k) {
            added[event_counts[k].quantity] = 0;
        }
    }
}

void CountRows::excess(const std::vector<std::int64_t>& counts, std::vector<double>& found) const {
    found.resize(static_cast<std::size_t>(n_rows));
    for (int i = 0; i < n_rows; ++i) {
        std::int64_t total = 0;
        for (auto k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
            total += row_counts[k].times * counts[row_counts[k].quantity];
        }
        found[i] = static_cast<double>(total) - bound[i];
    }
}

}  // namespace trelliswork
