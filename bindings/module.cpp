// The Python module trelliswork._core: each bind_<noun> lives in bind_<noun>.cpp.
#include <nanobind/nanobind.h>

void bind_features(nanobind::module_& m);
namespace trelliswork {
void bind_automaton(nanobind::module_& m);
void bind_inference(nanobind::module_& m);
void bind_objective(nanobind::module_& m);
}  // namespace trelliswork

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of Trelliswork.";
    // Automata live in caches until the interpreter goes: that is no leak worth a report.
    nanobind::set_leak_warnings(false);
    trelliswork::bind_automaton(m);
    bind_features(m);
    trelliswork::bind_inference(m);
    trelliswork::bind_objective(m);
}
