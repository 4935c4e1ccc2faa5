#include "counts.hpp"

#include <algorithm>

namespace trelliswork {

void CountRows::finish() {
    n_rows = static_cast<int>(row_offsets.size()) - 1;
    event_offsets.assign(static_cast<std::size_t>(n_events) + 1, 0);
    for (const Term& term : row_terms) ++event_offsets[term.index + 1];
    for (int e = 0; e < n_events; ++e) event_offsets[e + 1] += event_offsets[e];
    event_terms.resize(row_terms.size());
    auto next = event_offsets;
    least.assign(static_cast<std::size_t>(n_rows), 0.0);
    most = least;
    for (int i = 0; i < n_rows; ++i) {
        for (auto k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
            const Term& term = row_terms[k];
            event_terms[next[term.index]++] = {i, term.coefficient};
            least[i] = std::min(least[i], static_cast<double>(term.coefficient));
            most[i] = std::max(most[i], static_cast<double>(term.coefficient));
        }
    }
}

}  // namespace trelliswork
