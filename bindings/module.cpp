// The Python module trelliswork._core: each bind_<noun> lives in <noun>.cpp. nanobind tells bound
// types apart by their names, in anonymous namespaces too, so no two files may use the same one.
#include <nanobind/nanobind.h>

namespace trelliswork {
void bind_automata(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_segment_features(nanobind::module_& m);
void bind_kernel(nanobind::module_& m);
void bind_learn(nanobind::module_& m);
void bind_perceptron(nanobind::module_& m);
void bind_decoding(nanobind::module_& m);
void bind_spans(nanobind::module_& m);
void bind_factors(nanobind::module_& m);
void bind_graphs(nanobind::module_& m);
}  // namespace trelliswork

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of Trelliswork.";
    // Automata live in caches until the interpreter goes: that is no leak worth a report.
    nanobind::set_leak_warnings(false);
    trelliswork::bind_automata(m);
    trelliswork::bind_text(m);
    trelliswork::bind_segment_features(m);
    trelliswork::bind_kernel(m);
    trelliswork::bind_learn(m);
    trelliswork::bind_perceptron(m);
    trelliswork::bind_decoding(m);
    trelliswork::bind_spans(m);
    trelliswork::bind_factors(m);
    trelliswork::bind_graphs(m);
}
