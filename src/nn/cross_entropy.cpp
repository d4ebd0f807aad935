#include "src/nn/cross_entropy.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/row_loss.hpp"
#include "src/nn/places.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_cross_entropy_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("label_smoothing", options.label_smoothing, 0.0, 1.0));
  LPT_TRY(check_choice("reduction", options.reduction, LPT_LOSS_REDUCTION_NONE));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

// Checks losses or their gradients: f32 or f64.
Status check_losses(const Tensor *tensor, const char *name, int64_t count, bool needs_data, const Device &device,
                    MatrixView &out_view) {
  void *data = nullptr;
  const bool is_f64 = tensor != nullptr && tensor->format.id == LPT_FORMAT_F64;
  const lpt_format format = is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  LPT_TRY(check_vector(tensor, name, format, count, needs_data, &data, device));
  out_view = vector_view(format, data, count);
  return {};
}

bool is_f64(const MatrixView &view) { return view.format.id == LPT_FORMAT_F64; }

// One call with checked logits and options.
struct Loss {
  Context &context;
  const lpt_cross_entropy_options &options;
  bool needs_data;
  MatrixView logits;
  MatrixView targets;                // a vector
  bool is_target_here = true;        // targets are in CPU memory
  int64_t first = 0, classes = 0;    // first class of this rank; number of classes of all ranks
  int64_t counted = 0;               // rows that are not ignored, if the targets are in CPU memory
  std::vector<int64_t> places = {};  // index of each target in the columns of this rank, on the CPU

  const Device &device() const { return context.queue.device(); }
  int64_t target(int64_t row) const { return index_at(targets, row); }
  bool counts(int64_t row) const { return target(row) != options.ignored_target; }
  bool is_for_rows() const { return options.reduction == LPT_LOSS_REDUCTION_NONE; }  // one loss per row
  int64_t loss_count() const { return is_for_rows() ? logits.rows : 1; }

  // on() is the probability of the target class. off() is the probability that label smoothing adds to every class.
  double on() const { return 1.0 - options.label_smoothing; }
  double off() const { return classes == 0 ? 0.0 : options.label_smoothing / static_cast<double>(classes); }
};

// Returns a hash of the arguments that must be equal on all ranks. Targets in device memory are not included.
int64_t agreed_number(const Loss &loss) {
  auto sum = std::bit_cast<uint64_t>(loss.options.label_smoothing);
  const auto mix = [&](int64_t number) {
    sum = (sum ^ static_cast<uint64_t>(number)) * UINT64_C(0x9E3779B97F4A7C15);
    sum ^= sum >> 29;
  };
  mix(loss.options.ignored_target);
  for (int64_t r = 0; loss.is_target_here && r < loss.logits.rows; ++r) mix(loss.target(r));
  return static_cast<int64_t>(sum);
}

// Returns the engine that exchanges numbers in CPU memory.
Engine &control_engine(Engine &engine) {
  return engine.device().is_cpu() ? engine : static_cast<DeviceEngine &>(engine).control();
}

Signature signature_of(const Loss &loss, const char *operation) {
  return {operation, loss.logits.format.id, loss.logits.rows, 0, agreed_number(loss)};
}

// All-gathers `count` numbers of each rank. `out_all` has those of all ranks in their order.
template <typename Number>
Status exchange_numbers(const Loss &loss, const char *operation, const Number *mine, int64_t count,
                        std::vector<Number> &out_all) {
  const auto ranks = static_cast<size_t>(loss.options.comm->engine->ranks());
  const auto each = static_cast<size_t>(count);
  const int64_t bytes = count * static_cast<int64_t>(sizeof(Number));
  const Signature signature = signature_of(loss, operation);
  out_all.resize(ranks * each);
  const auto exchange = [&](Context &, Engine &engine_of_comm) -> Status {
    Engine &engine = control_engine(engine_of_comm);
    std::vector<Number> own(mine, mine + count);
    const std::vector<Bytes> outgoing(ranks, {reinterpret_cast<std::byte *>(own.data()), bytes});
    std::vector<Bytes> incoming;
    for (size_t q = 0; q < ranks; ++q) {
      incoming.push_back({reinterpret_cast<std::byte *>(out_all.data() + q * each), bytes});
    }
    const auto self = static_cast<size_t>(engine.rank());
    const ExchangeGuard guard(engine);
    LPT_TRY(engine.all_to_all_v(signature, outgoing.data(), incoming.data()));
    incoming[self] = outgoing[self];
    for (size_t q = 0; q < ranks && count > 0; ++q) {
      std::memmove(out_all.data() + q * each, incoming[q].data, static_cast<size_t>(bytes));
    }
    return engine.release();
  };
  const DeviceSupport reach = is_on_cpu(loss.context) ? DeviceSupport::kCpu : DeviceSupport::kDevices;
  return run_collective(loss.context, *loss.options.comm, exchange, nullptr, reach);
}

// Computes the first class of this rank and the number of classes of all ranks.
Status find_classes(Loss &loss) {
  loss.classes = loss.logits.columns;
  if (loss.options.comm == nullptr) return {};
  std::vector<int64_t> counts;
  LPT_TRY(exchange_numbers(loss, "cross_entropy, classes", &loss.logits.columns, 1, counts));
  loss.classes = 0;
  for (size_t q = 0; q < counts.size(); ++q) {
    if (q == static_cast<size_t>(loss.options.comm->engine->rank())) loss.first = loss.classes;
    loss.classes += counts[q];
  }
  return {};
}

Status find_places(Loss &loss) {
  for (int64_t r = 0; r < loss.logits.rows; ++r) {
    const int64_t target = loss.target(r);
    const bool is_class = target >= 0 && target < loss.classes;
    if (loss.counts(r) && !is_class) {
      return invalid("%s is %lld: expected a class, 0 to %lld, or ignored_target, %lld", item("targets", r).c_str(),
                     number(target), number(loss.classes - 1), number(loss.options.ignored_target));
    }
    loss.counted += loss.counts(r) ? 1 : 0;
    loss.places.push_back(loss.counts(r) ? target - loss.first : kUncounted);
  }
  return {};
}

Status prepare(const Tensor *logits, const Tensor *targets, Loss &loss) {
  LPT_TRY(check_options(loss.options));
  LPT_TRY(check_wide_matrix(logits, "logits", loss.needs_data, loss.logits, loss.device()));
  LPT_TRY(check_row_indices(targets, "targets", *logits, "logits", loss.logits.rows, loss.needs_data, loss.targets,
                            loss.device()));
  loss.is_target_here = targets->device.is_cpu();
  return {};
}

void write_number(const MatrixView &vector, int64_t index, double value) {
  if (is_f64(vector)) {
    static_cast<double *>(vector.data)[index] = value;
  } else {
    static_cast<float *>(vector.data)[index] = static_cast<float>(value);
  }
}

double read_number(const MatrixView &vector, int64_t index) {
  return is_f64(vector) ? static_cast<const double *>(vector.data)[index]
                        : static_cast<double>(static_cast<const float *>(vector.data)[index]);
}

// Returns the divisor of the sum of losses; 0: no division.
double divisor_of(const Loss &loss) {
  return loss.options.reduction == LPT_LOSS_REDUCTION_MEAN ? static_cast<double>(loss.counted) : 0.0;
}

void write_losses(const Loss &loss, const std::vector<RowSums> &all, const MatrixView &losses, double *log_sums) {
  const int64_t rows = loss.logits.rows;
  double sum = 0.0;
  for (int64_t r = 0; r < rows; ++r) {
    const RowSums sums = joined_sums(all.data(), static_cast<int64_t>(all.size()) / rows, rows, r);
    const double log_sum = log_sum_of(sums), smoothing = loss.options.label_smoothing;
    const double one = loss.counts(r) ? row_loss(sums, log_sum, smoothing, loss.classes) : 0.0;
    if (log_sums != nullptr) log_sums[r] = log_sum;
    if (loss.is_for_rows()) write_number(losses, r, one);
    sum += one;
  }
  const double divisor = divisor_of(loss);
  if (!loss.is_for_rows()) write_number(losses, 0, divisor == 0.0 ? sum : sum / divisor);
}

// Returns the factor of the gradient of each row.
std::vector<double> factors_of(const Loss &loss, const MatrixView &gradient) {
  std::vector<double> factors;
  const double divisor = divisor_of(loss);
  for (int64_t r = 0; r < loss.logits.rows; ++r) {
    const int64_t index = loss.is_for_rows() ? r : 0;
    double factor = gradient.data == nullptr ? 1.0 : read_number(gradient, index);
    if (divisor != 0.0) factor /= divisor;
    factors.push_back(loss.counts(r) ? factor : 0.0);
  }
  return factors;
}

// Cross entropy on a device.

// Returns the divisor of the sum of losses in device memory; NULL: no division.
const int64_t *divisor_of(const Loss &loss, const DeviceIndices &places) {
  return loss.options.reduction == LPT_LOSS_REDUCTION_MEAN ? places.request.counted : nullptr;
}

Status select_index_kernel(const Loss &loss, DeviceIndices &places) {
  return select_index_kernel(loss.context, loss.targets, loss.is_target_here, loss.options.ignored_target, places);
}

// Rejects a comm on another device, or one whose hosts do not exchange their numbers of classes.
Status check_comm_on_device(const Loss &loss) {
  if (loss.options.comm == nullptr) return {};
  const Comm &comm = *loss.options.comm;
  if (!(device_of(comm) == loss.device())) {
    return invalid("options->comm works on %s: expected %s, as the context", device_text(device_of(comm)).c_str(),
                   device_text(loss.device()).c_str());
  }
  if (comm.device_engine->compares()) return {};
  return unsupported(
      "options->comm has LPT_COMM_SKIP_CHECKS: expected ranks whose hosts tell each other their classes");
}

// Exchanges the sums of rows. `all` has `rows` entries per rank, in the order of ranks.
Status share_sums(const Loss &loss, RowSums *all) {
  const auto ranks = static_cast<size_t>(loss.options.comm->engine->ranks());
  const int64_t bytes = loss.logits.rows * static_cast<int64_t>(sizeof(RowSums));
  std::vector<Bytes> incoming;
  for (size_t q = 0; q < ranks; ++q) {
    incoming.push_back({reinterpret_cast<std::byte *>(all + static_cast<int64_t>(q) * loss.logits.rows), bytes});
  }
  const std::vector<Bytes> outgoing(ranks, incoming[static_cast<size_t>(loss.options.comm->engine->rank())]);
  const auto exchange = [&](Context &, Engine &engine) {
    return engine.all_to_all_v(signature_of(loss, "cross_entropy"), outgoing.data(), incoming.data());
  };
  return run_collective(loss.context, *loss.options.comm, exchange, nullptr, DeviceSupport::kDevices);
}

Status queue_forward(const Loss &loss, const MatrixView &out, double *log_sums, bool is_check_only) {
  Context &context = loss.context;
  const Comm *comm = loss.options.comm;
  const int64_t rows = loss.logits.rows;
  DeviceIndices places;
  CrossEntropySumsRequest sums{loss.logits, nullptr, nullptr};
  LossesRequest losses{};
  const KernelEntry<CrossEntropySumsRequest> *sums_kernel = nullptr;
  const KernelEntry<LossesRequest> *losses_kernel = nullptr;
  LPT_TRY(select_index_kernel(loss, places));
  LPT_TRY(select_kernel(context, "cross_entropy_sums", sums, {loss.logits.format.id}, &sums_kernel));
  LPT_TRY(select_kernel(context, "losses", losses, {out.format.id}, &losses_kernel));
  if (is_check_only) return {};
  const int64_t ranks = comm == nullptr ? 1 : comm->engine->ranks(), rank = comm == nullptr ? 0 : comm->engine->rank();
  LPT_TRY(queue_places(context, loss.first, loss.classes, places));
  sums.places = places.request.places;
  RowSums *all = nullptr;
  LPT_TRY(take_numbers(context, ranks * rows, &all));
  sums.sums = all + rank * rows;
  double *scratch = nullptr;
  LPT_TRY(take_numbers(context, rows, &scratch));
  losses = {.sums = all,
            .places = sums.places,
            .ranks = ranks,
            .rows = rows,
            .classes = loss.classes,
            .label_smoothing = loss.options.label_smoothing,
            .log_sums = log_sums,
            .losses = scratch,
            .out = out.data,
            .is_f64 = is_f64(out),
            .is_for_rows = loss.is_for_rows(),
            .divisor = divisor_of(loss, places)};
  LPT_TRY(queue_kernel(context, *sums_kernel, sums));
  if (comm != nullptr) LPT_TRY(share_sums(loss, all));
  return queue_kernel(context, *losses_kernel, losses);
}

Status queue_backward(const Loss &loss, const double *log_sums, const MatrixView &loss_gradient,
                      const MatrixView &gradient, bool is_check_only) {
  Context &context = loss.context;
  const int64_t rows = loss.logits.rows;
  DeviceIndices places;
  CrossEntropyGradientRequest whole{loss.logits, gradient, nullptr, log_sums, nullptr, loss.on(), loss.off()};
  LossFactorsRequest factors{
      loss_gradient.data, is_f64(loss_gradient), loss.is_for_rows(), nullptr, nullptr, rows, nullptr};
  LPT_TRY(select_index_kernel(loss, places));
  const KernelEntry<CrossEntropyGradientRequest> *kernel = nullptr;
  const KernelEntry<LossFactorsRequest> *factors_kernel = nullptr;
  LPT_TRY(
      select_kernel(context, "cross_entropy_gradient", whole, {loss.logits.format.id, gradient.format.id}, &kernel));
  LPT_TRY(select_kernel(context, "loss_factors", factors, {LPT_FORMAT_F64}, &factors_kernel));
  if (is_check_only) return {};
  LPT_TRY(queue_places(context, loss.first, loss.classes, places));
  LPT_TRY(take_numbers(context, rows, &factors.factors));
  factors.divisor = divisor_of(loss, places);
  factors.places = whole.places = places.request.places;
  whole.factors = factors.factors;
  LPT_TRY(queue_kernel(context, *factors_kernel, factors));
  return queue_kernel(context, *kernel, whole);
}

// Runs run(is_check_only), which queues a pass. A rejection is returned before any communication with other ranks.
template <typename Run>
Status queue_loss(Loss &loss, const Run &run) {
  LPT_TRY(check_comm_on_device(loss));
  const size_t reported = loss.context.choices.size();
  LPT_TRY(run(true));
  if (!loss.needs_data) return {};
  loss.context.choices.resize(reported);
  LPT_TRY(find_classes(loss));
  if (loss.is_target_here) LPT_TRY(find_places(loss));
  return run(false);
}

}  // namespace

Status cross_entropy_forward(Context &context, const Tensor *logits, const Tensor *targets,
                             const lpt_cross_entropy_options &options, Tensor *loss_tensor, Tensor *log_sums) {
  Loss loss{context, options, !is_check_only(options.flags), {}, {}};
  LPT_TRY(prepare(logits, targets, loss));
  const int64_t rows = loss.logits.rows;
  MatrixView losses;
  void *log_data = nullptr;
  LPT_TRY(check_losses(loss_tensor, "loss", loss.loss_count(), loss.needs_data, loss.device(), losses));
  LPT_TRY(check_no_overlap(losses, "loss", loss.logits, "logits"));
  if (log_sums != nullptr) {
    LPT_TRY(check_vector(log_sums, "log_sums", LPT_FORMAT_F64, rows, loss.needs_data, &log_data, loss.device()));
    const MatrixView logs = vector_view(LPT_FORMAT_F64, log_data, rows);
    LPT_TRY(check_no_overlap(logs, "log_sums", loss.logits, "logits"));
    LPT_TRY(check_no_overlap(logs, "log_sums", losses, "loss"));
  }
  if (!is_on_cpu(context)) {
    return queue_loss(loss, [&](bool is_check_only) {
      return queue_forward(loss, losses, static_cast<double *>(log_data), is_check_only);
    });
  }
  CrossEntropySumsRequest whole{loss.logits, nullptr, nullptr};
  const KernelEntry<CrossEntropySumsRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "cross_entropy_forward", cross_entropy_sums_kernels(), whole, {loss.logits.format.id},
                        &kernel));
  if (!loss.needs_data) return {};
  LPT_TRY(find_classes(loss));
  LPT_TRY(find_places(loss));
  const ProfileScope measure(context, "cross_entropy_forward", kernel->name, view_bytes(loss.logits));
  std::vector<RowSums> sums(static_cast<size_t>(rows)), all;
  parallel_parts(context, rows, loss.logits.columns, [&](int64_t begin, int64_t count) {
    kernel->run({cut_rows(loss.logits, begin, count), loss.places.data() + begin, sums.data() + begin});
  });
  if (options.comm == nullptr) {
    all.swap(sums);
  } else {
    LPT_TRY(exchange_numbers(loss, "cross_entropy", sums.data(), rows, all));
  }
  write_losses(loss, all, losses, static_cast<double *>(log_data));
  return {};
}

Status cross_entropy_backward(Context &context, const Tensor *logits, const Tensor *targets, const Tensor *log_sums,
                              const Tensor *loss_gradient, const lpt_cross_entropy_options &options,
                              Tensor *logits_gradient) {
  Loss loss{context, options, !is_check_only(options.flags), {}, {}};
  LPT_TRY(prepare(logits, targets, loss));
  const int64_t rows = loss.logits.rows;
  void *log_data = nullptr;
  MatrixView factors_from, gradient;
  LPT_TRY(check_vector(log_sums, "log_sums", LPT_FORMAT_F64, rows, loss.needs_data, &log_data, loss.device()));
  if (loss_gradient != nullptr) {
    LPT_TRY(
        check_losses(loss_gradient, "loss_gradient", loss.loss_count(), loss.needs_data, loss.device(), factors_from));
  }
  LPT_TRY(check_wide_matrix(logits_gradient, "logits_gradient", loss.needs_data, gradient, loss.device()));
  LPT_TRY(check_shape(gradient, "logits_gradient", rows, loss.logits.columns, "logits"));
  if (gradient.format.id == loss.logits.format.id) {
    LPT_TRY(check_in_place(gradient, "logits_gradient", loss.logits, "logits"));
  } else {
    LPT_TRY(check_no_overlap(gradient, "logits_gradient", loss.logits, "logits"));
  }
  LPT_TRY(check_no_overlap(gradient, "logits_gradient", vector_view(LPT_FORMAT_F64, log_data, rows), "log_sums"));
  LPT_TRY(check_no_overlap(gradient, "logits_gradient", factors_from, "loss_gradient"));
  if (!is_on_cpu(context)) {
    return queue_loss(loss, [&](bool is_check_only) {
      return queue_backward(loss, static_cast<double *>(log_data), factors_from, gradient, is_check_only);
    });
  }
  CrossEntropyGradientRequest whole{loss.logits, gradient, nullptr, static_cast<double *>(log_data), nullptr, 0.0, 0.0};
  const KernelEntry<CrossEntropyGradientRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "cross_entropy_backward", cross_entropy_gradient_kernels(), whole,
                        {loss.logits.format.id, gradient.format.id}, &kernel));
  if (!loss.needs_data) return {};
  LPT_TRY(find_classes(loss));
  LPT_TRY(find_places(loss));
  const ProfileScope measure(context, "cross_entropy_backward", kernel->name,
                             view_bytes(loss.logits) + view_bytes(gradient));
  const std::vector<double> factors = factors_of(loss, factors_from);
  whole.on = loss.on();
  whole.off = loss.off();
  parallel_parts(context, rows, loss.logits.columns, [&](int64_t begin, int64_t count) {
    CrossEntropyGradientRequest part = whole;
    part.logits = cut_rows(loss.logits, begin, count);
    part.gradient = cut_rows(gradient, begin, count);
    part.places = loss.places.data() + begin;
    part.log_sums = whole.log_sums + begin;
    part.factors = factors.data() + begin;
    kernel->run(part);
  });
  return {};
}

}  // namespace lpt
