#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

template <typename Change>
lpt_status request(World &w, lpt_cost_collective collective, lpt_cost_algorithm algorithm, int32_t ranks,
                   int64_t elements, lpt_format payload, Change change) {
  lpt_cost_link link = LPT_COST_LINK_INIT;
  change(link);
  lpt_cost_info values = LPT_COST_INFO_INIT;
  const lpt_status status = lpt_cost_estimate(w.c, collective, algorithm, ranks, elements, payload, &link, &values);
  EXPECT_EQ(0.0, values.total_bytes) << "written by a call that was rejected";
  return status;
}

lpt_status request(World &w, lpt_cost_collective collective, lpt_cost_algorithm algorithm) {
  return request(w, collective, algorithm, 4, 64, LPT_FORMAT_F32, kUnchanged);
}

template <typename Change>
lpt_status request_of_link(World &w, Change change) {
  return request(w, LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_BEST, 4, 64, LPT_FORMAT_F32, change);
}

lpt_status fit(World &w, const std::vector<double> &bytes, const std::vector<double> &seconds) {
  lpt_cost_link link = LPT_COST_LINK_INIT;
  const lpt_status status =
      lpt_cost_fit_link(w.c, bytes.data(), seconds.data(), static_cast<int64_t>(bytes.size()), &link);
  EXPECT_EQ(0.0, link.bytes_per_second) << "written by a call that was rejected";
  return status;
}

template <typename Change>
lpt_status find_break_even(World &w, lpt_format plain, lpt_format payload, Change change) {
  lpt_cost_cast_rates rates = LPT_COST_CAST_RATES_INIT;
  change(rates);
  return lpt_cost_break_even(w.c, LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_BEST, 4, plain, payload, &rates,
                             nullptr, &w.out_number);
}

}  // namespace

const std::vector<BadCall> kCostCalls = {
    {"cost_estimate: no such collective",
     LPT_INVALID_ARGUMENT,
     {"collective is 5", "0 to 4"},
     [](World &w) { return request(w, 5, LPT_COST_ALGORITHM_BEST); }},
    {"cost_estimate: no such algorithm",
     LPT_INVALID_ARGUMENT,
     {"algorithm is 6", "0 to 5"},
     [](World &w) { return request(w, LPT_COST_COLLECTIVE_ALL_REDUCE, 6); }},
    {"cost_estimate: negative algorithm",
     LPT_INVALID_ARGUMENT,
     {"algorithm is -1"},
     [](World &w) { return request(w, LPT_COST_COLLECTIVE_ALL_REDUCE, -1); }},
    {"cost_estimate: a broadcast on a ring",
     LPT_UNSUPPORTED,
     {"algorithm is ring", "broadcast", "best, one_shot, tree"},
     [](World &w) { return request(w, LPT_COST_COLLECTIVE_BROADCAST, LPT_COST_ALGORITHM_RING); }},
    {"cost_estimate: an all-to-all on a tree",
     LPT_UNSUPPORTED,
     {"algorithm is tree", "all_to_all", "best, one_shot"},
     [](World &w) { return request(w, LPT_COST_COLLECTIVE_ALL_TO_ALL, LPT_COST_ALGORITHM_TREE); }},
    {"cost_estimate: no ranks",
     LPT_INVALID_ARGUMENT,
     {"ranks is 0", "1 to 1048576"},
     [](World &w) { return request(w, 0, 0, 0, 64, LPT_FORMAT_F32, kUnchanged); }},
    {"cost_estimate: too many ranks",
     LPT_INVALID_ARGUMENT,
     {"ranks is 1048577"},
     [](World &w) { return request(w, 0, 0, 1048577, 64, LPT_FORMAT_F32, kUnchanged); }},
    {"cost_estimate: negative elements",
     LPT_INVALID_ARGUMENT,
     {"elements is -1"},
     [](World &w) { return request(w, 0, 0, 4, -1, LPT_FORMAT_F32, kUnchanged); }},
    {"cost_estimate: no format",
     LPT_INVALID_ARGUMENT,
     {"payload is 0"},
     [](World &w) { return request(w, 0, 0, 4, 64, LPT_FORMAT_NONE, kUnchanged); }},
    {"cost_estimate: 2:4",
     LPT_UNSUPPORTED,
     {"payload is", "2:4"},
     [](World &w) { return request(w, 0, 0, 4, 64, format_named("e4m3fn/2:4"), kUnchanged); }},
    {"cost_estimate: negative latency",
     LPT_INVALID_ARGUMENT,
     {"link->latency_seconds is -1"},
     [](World &w) { return request_of_link(w, [](auto &l) { l.latency_seconds = -1.0; }); }},
    {"cost_estimate: bandwidth that is no number",
     LPT_INVALID_ARGUMENT,
     {"link->bytes_per_second is"},
     [](World &w) { return request_of_link(w, [](auto &l) { l.bytes_per_second = NAN; }); }},
    {"cost_estimate: infinite adding",
     LPT_INVALID_ARGUMENT,
     {"link->reduce_bytes_per_second is inf"},
     [](World &w) { return request_of_link(w, [](auto &l) { l.reduce_bytes_per_second = INFINITY; }); }},
    {"cost_estimate: a link without size",
     LPT_INVALID_ARGUMENT,
     {"link->struct_size is 0"},
     [](World &w) { return request_of_link(w, [](auto &l) { l.struct_size = 0; }); }},
    {"cost_estimate: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_cost_estimate(w.c, 0, 0, 4, 64, LPT_FORMAT_F32, nullptr, nullptr); }},
    {"cost_fit_link: no sizes",
     LPT_INVALID_ARGUMENT,
     {"bytes is NULL"},
     [](World &w) { return lpt_cost_fit_link(w.c, nullptr, nullptr, 2, nullptr); }},
    {"cost_fit_link: no times",
     LPT_INVALID_ARGUMENT,
     {"seconds is NULL"},
     [](World &w) {
       const double bytes[] = {1.0, 2.0};
       return lpt_cost_fit_link(w.c, bytes, nullptr, 2, nullptr);
     }},
    {"cost_fit_link: one measurement",
     LPT_INVALID_ARGUMENT,
     {"count is 1", "2 or more"},
     [](World &w) { return fit(w, {1.0}, {1.0}); }},
    {"cost_fit_link: a negative size",
     LPT_INVALID_ARGUMENT,
     {"bytes[1] is -4"},
     [](World &w) {
       return fit(w, {1.0, -4.0}, {1.0, 2.0});
     }},
    {"cost_fit_link: a time of nothing",
     LPT_INVALID_ARGUMENT,
     {"seconds[0] is 0"},
     [](World &w) {
       return fit(w, {1.0, 2.0}, {0.0, 2.0});
     }},
    {"cost_fit_link: a time that is no number",
     LPT_INVALID_ARGUMENT,
     {"seconds[1] is"},
     [](World &w) {
       return fit(w, {1.0, 2.0}, {1.0, NAN});
     }},
    {"cost_fit_link: one size",
     LPT_INVALID_ARGUMENT,
     {"bytes are 8 everywhere", "two different sizes"},
     [](World &w) {
       return fit(w, {8.0, 8.0, 8.0}, {1.0, 2.0, 3.0});
     }},
    {"cost_fit_link: times that fall",
     LPT_INVALID_ARGUMENT,
     {"seconds do not grow with bytes"},
     [](World &w) {
       return fit(w, {1.0, 2.0}, {2.0, 1.0});
     }},
    {"cost_fit_link: times that stay",
     LPT_INVALID_ARGUMENT,
     {"seconds do not grow with bytes"},
     [](World &w) {
       return fit(w, {1.0, 2.0, 4.0}, {2.0, 2.0, 2.0});
     }},
    {"cost_fit_link: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_link is NULL"},
     [](World &w) {
       const double numbers[] = {1.0, 2.0};
       return lpt_cost_fit_link(w.c, numbers, numbers, 2, nullptr);
     }},
    {"cost_break_even: no format of the numbers",
     LPT_INVALID_ARGUMENT,
     {"plain is 0"},
     [](World &w) { return find_break_even(w, LPT_FORMAT_NONE, LPT_FORMAT_INT8, kUnchanged); }},
    {"cost_break_even: no format of the payload",
     LPT_INVALID_ARGUMENT,
     {"payload is -1"},
     [](World &w) { return find_break_even(w, LPT_FORMAT_F32, -1, kUnchanged); }},
    {"cost_break_even: negative overhead",
     LPT_INVALID_ARGUMENT,
     {"rates->overhead_seconds is -1"},
     [](World &w) {
       return find_break_even(w, LPT_FORMAT_F32, LPT_FORMAT_INT8, [](auto &r) { r.overhead_seconds = -1.0; });
     }},
    {"cost_break_even: a rate that is no number",
     LPT_INVALID_ARGUMENT,
     {"rates->encode_bytes_per_second is"},
     [](World &w) {
       return find_break_even(w, LPT_FORMAT_F32, LPT_FORMAT_INT8, [](auto &r) { r.encode_bytes_per_second = NAN; });
     }},
    {"cost_break_even: negative rate",
     LPT_INVALID_ARGUMENT,
     {"rates->decode_bytes_per_second is -2"},
     [](World &w) {
       return find_break_even(w, LPT_FORMAT_F32, LPT_FORMAT_INT8, [](auto &r) { r.decode_bytes_per_second = -2.0; });
     }},
    {"cost_break_even: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_elements is NULL"},
     [](World &w) {
       return lpt_cost_break_even(w.c, 0, 0, 4, LPT_FORMAT_F32, LPT_FORMAT_INT8, nullptr, nullptr, nullptr);
     }},
};

}  // namespace lpt::test
