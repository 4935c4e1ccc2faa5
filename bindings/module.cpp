// The Python module trelliswork._core: each bind_<noun> lives in bind_<noun>.cpp.
#include <nanobind/nanobind.h>

NB_MODULE(_core, m) { m.doc() = "The C++ core of Trelliswork."; }
