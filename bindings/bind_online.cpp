#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "interrupt.hpp"
#include "online.hpp"

namespace trelliswork {

namespace {

bool all_non_negative(const In<double, 1>& values) {
    return std::all_of(values.data(), values.data() + values.size(),
                       [](double value) { return value >= 0.0 && std::isfinite(value); });
}

void check_size(const OnlinePass& pass, std::size_t size) {
    const auto n = pass.objective().n_parameters();
    require(static_cast<std::int64_t>(size) == n,
            "online: expected " + std::to_string(n) + " parameters");
}

std::unique_ptr<OnlinePass> make_pass(Objective& objective, const In<std::int32_t, 1>& groups,
                                      const In<double, 1>& strengths, double l2) {
    require(static_cast<std::int64_t>(groups.size()) == objective.n_parameters(),
            "groups: expected one a parameter");
    for (std::size_t k = 0; k < groups.size(); ++k) {
        require(groups(k) >= -1 && groups(k) < static_cast<std::int64_t>(strengths.size()),
                "groups: no such group");
    }
    require(all_non_negative(strengths), "strengths: expected finite numbers from 0 up");
    require(l2 >= 0.0 && std::isfinite(l2), "l2: expected a finite number from 0 up");
    auto own = copy_of(strengths);
    nb::gil_scoped_release release;
    return std::make_unique<OnlinePass>(objective, groups.data(), std::move(own), l2);
}

double run(OnlinePass& self, const In<std::int64_t, 1>& order, const In<double, 1>& rates) {
    require(self.is_running(), "online: begin has to come first");
    require(order.size() == rates.size(), "rates: expected one a step");
    require(all_non_negative(rates), "rates: expected finite numbers from 0 up");
    for (std::size_t i = 0; i < order.size(); ++i) {
        require(order(i) >= 0 && order(i) < self.objective().n_sequences(),
                "order: no such sequence");
    }
    Interrupt interrupt;
    double loss = 0.0;
    {
        nb::gil_scoped_release release;
        loss = self.run(order.data(), rates.data(), static_cast<std::int64_t>(order.size()),
                        [&] { return interrupt.asked(); });
    }
    interrupt.raise();
    return loss;
}

}  // namespace

void bind_online(nb::module_& m) {
    nb::class_<OnlinePass>(m, "OnlinePass")
        .def(nb::new_(&make_pass), nb::arg("objective"), nb::arg("groups"), nb::arg("strengths"),
             nb::arg("l2"), nb::keep_alive<0, 2>())
        .def(
            "begin",
            [](OnlinePass& self, const In<double, 1>& parameters) {
                check_size(self, parameters.size());
                nb::gil_scoped_release release;
                self.begin(parameters.data());
            },
            nb::arg("parameters"))
        .def("run", &run, nb::arg("order"), nb::arg("rates"))
        .def(
            "end",
            [](OnlinePass& self, Out<double, 1> parameters) {
                check_size(self, parameters.size());
                require(self.is_running(), "online: begin has to come first");
                nb::gil_scoped_release release;
                self.end(parameters.data());
            },
            nb::arg("parameters"));
}

}  // namespace trelliswork
