// The Python module trelliswork._core: each bind_<noun> lives in bind_<noun>.cpp.
#include <nanobind/nanobind.h>

namespace trelliswork {
void bind_algebra(nanobind::module_& m);
void bind_automaton(nanobind::module_& m);
void bind_factors(nanobind::module_& m);
void bind_factor_graph(nanobind::module_& m);
void bind_feature_items(nanobind::module_& m);
void bind_features(nanobind::module_& m);
void bind_inference(nanobind::module_& m);
void bind_layer(nanobind::module_& m);
void bind_objective(nanobind::module_& m);
void bind_online(nanobind::module_& m);
void bind_patterns(nanobind::module_& m);
void bind_perceptron(nanobind::module_& m);
void bind_prefixes(nanobind::module_& m);
void bind_product(nanobind::module_& m);
void bind_segments(nanobind::module_& m);
void bind_segment_features(nanobind::module_& m);
void bind_solver(nanobind::module_& m);
void bind_spans(nanobind::module_& m);
}  // namespace trelliswork

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of Trelliswork.";
    // Automata live in caches until the interpreter goes: that is no leak worth a report.
    nanobind::set_leak_warnings(false);
    trelliswork::bind_automaton(m);
    trelliswork::bind_algebra(m);
    trelliswork::bind_product(m);
    trelliswork::bind_patterns(m);
    trelliswork::bind_features(m);
    trelliswork::bind_feature_items(m);
    trelliswork::bind_segment_features(m);
    trelliswork::bind_inference(m);
    trelliswork::bind_layer(m);
    trelliswork::bind_segments(m);
    trelliswork::bind_objective(m);
    trelliswork::bind_online(m);
    trelliswork::bind_perceptron(m);
    trelliswork::bind_solver(m);
    trelliswork::bind_spans(m);
    trelliswork::bind_prefixes(m);
    trelliswork::bind_factor_graph(m);
    trelliswork::bind_factors(m);
}
