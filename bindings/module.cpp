// The Python module trelliswork._core: each bind_<noun> lives in bind_<noun>.cpp.
#include <nanobind/nanobind.h>

void bind_features(nanobind::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of Trelliswork.";
    bind_features(m);
}
