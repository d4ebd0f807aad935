// Checks of the average with one sign bit per element.
#include "src/collective/collective.hpp"
#include "src/ranks/signs_reducing.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 60;

Status check_f32(const MatrixView &view, const char *name) {
  if (view.format.id == LPT_FORMAT_F32) return {};
  return invalid("%s is %s: expected f32", name, format_name(view.format.id).c_str());
}

// Checks an error tensor: `count` contiguous f32 elements.
Status check_error(const Tensor *tensor, const char *name, int64_t count, float **out_numbers) {
  MatrixView view;
  LPT_TRY(check_matrix(tensor, name, true, view));
  LPT_TRY(check_f32(view, name));
  if (view.rows * view.columns != count) {
    return invalid("%s has %lld elements: expected %lld", name, number(view.rows * view.columns), number(count));
  }
  if (view.rows > 1 && view.row_stride != view.columns) return invalid("%s has gaps between its rows", name);
  *out_numbers = static_cast<float *>(view.data);
  return {};
}

}  // namespace

Status signs_share(const Comm &comm, int64_t elements, int64_t *out_elements) {
  if (elements < 0 || elements > kMostElements) {
    return invalid("element_count is %lld: expected 0 to 2^60", number(elements));
  }
  const std::vector<Range> shares = signs_shares(elements, comm.engine->ranks());
  *out_elements = shares[static_cast<size_t>(comm.engine->rank())].count();
  return {};
}

Status all_reduce_signs(Context &context, Comm &comm, const Tensor *input, Tensor *worker_error, Tensor *server_error,
                        Tensor *output, Future **out_future) {
  SignsReductionPlan reducing{};
  LPT_TRY(check_matrix(input, "input", true, reducing.input));
  LPT_TRY(check_f32(reducing.input, "input"));
  LPT_TRY(check_matrix(output, "output", true, reducing.output));
  LPT_TRY(check_f32(reducing.output, "output"));
  LPT_TRY(check_shape(reducing.output, "output", reducing.input.rows, reducing.input.columns, "input"));
  LPT_TRY(check_in_place(reducing.input, "input", reducing.output, "output"));
  const int64_t elements = reducing.input.rows * reducing.input.columns;
  reducing.shares = signs_shares(elements, comm.engine->ranks());
  const int64_t mine = reducing.shares[static_cast<size_t>(comm.engine->rank())].count();
  LPT_TRY(check_error(worker_error, "worker_error", elements, &reducing.worker_error));
  LPT_TRY(check_error(server_error, "server_error", mine, &reducing.server_error));
  const MatrixView errors[2] = {vector_view(LPT_FORMAT_F32, reducing.worker_error, elements),
                                vector_view(LPT_FORMAT_F32, reducing.server_error, mine)};
  for (const MatrixView *view : {&reducing.input, &reducing.output}) {
    const char *const name = view == &reducing.input ? "input" : "output";
    LPT_TRY(check_no_overlap(errors[0], "worker_error", *view, name));
    LPT_TRY(check_no_overlap(errors[1], "server_error", *view, name));
  }
  LPT_TRY(check_no_overlap(errors[0], "worker_error", errors[1], "server_error"));
  struct Operands {
    Tensor input, worker_error, server_error, output;
  };
  return run_collective(
      context, comm,
      [reducing, operands = Operands{*input, *worker_error, *server_error, *output}](Context &worker, Engine &engine) {
        return reduce_signs_to_all(worker, engine, reducing);
      },
      out_future);
}

}  // namespace lpt
