// Numbers that are cast for the transfer between devices.
#include "src/call/launch.hpp"
#include "src/cast/device_cast.hpp"
#include "src/ranks/device_reducing.hpp"
#include "src/tensor/flat_view.hpp"

namespace lpt {
namespace {

// While it lives, kernels that were selected already are not reported again.
class Unreported {
 public:
  explicit Unreported(Context &context) : context_(context), reported_(context.choices.size()) {}
  ~Unreported() { context_.choices.resize(reported_); }
  Unreported(const Unreported &) = delete;
  Unreported &operator=(const Unreported &) = delete;

 private:
  Context &context_;
  const size_t reported_;
};

class WireSum {
 public:
  WireSum(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing)
      : worker_(worker),
        engine_(engine),
        reducing_(reducing),
        wire_(reducing.wire),
        shares_(reducing.shares),
        unreported_(worker) {}

  Status one_shot() {
    MessageLayout mine;
    Bytes bytes;
    LPT_TRY(take_message(shares_, mine, bytes));
    LPT_TRY(cast_input(mine.shares));
    std::vector<Bytes> incoming;
    LPT_TRY(exchange(std::vector<Bytes>(shares_.size(), bytes), bytes, incoming));
    std::vector<MessageLayout> sources;
    for (const Bytes &theirs : incoming) sources.push_back(lay_out_message(wire_, shares_, theirs.data));
    DeviceFlatView output;
    LPT_TRY(output.place(worker_, reducing_.output));
    for (size_t share = 0; share < shares_.size(); ++share) {
      std::vector<MatrixView> codes;
      for (const MessageLayout &layout : sources) codes.push_back(layout.shares[share]);
      LPT_TRY(add_up(codes, output.run(shares_[share])));
    }
    return output.write_back(worker_);
  }

  Status two_shots() {
    MessageLayout sum;
    Bytes mine;
    MatrixView added;
    LPT_TRY(take_f32(my_share().count(), added));
    LPT_TRY(scatter(added));
    LPT_TRY(take_message({my_share()}, sum, mine));
    LPT_TRY(cast(added, sum.shares[0], second_draws(wire_), my_share().begin));
    std::vector<Bytes> incoming(shares_.size(), mine);
    for (size_t q = 0; q < incoming.size(); ++q) {
      const int64_t bytes = lay_out_message(wire_, {shares_[q]}, nullptr).bytes;
      if (q != self()) LPT_TRY(take_space(worker_, engine_, bytes, incoming[q]));
    }
    const std::vector<Bytes> outgoing(shares_.size(), mine);
    LPT_TRY(engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), incoming.data()));
    return decode(incoming);
  }

  Status to_parts() {
    DeviceFlatView output;
    LPT_TRY(output.place(worker_, reducing_.output));
    LPT_TRY(scatter(output.run({0, my_share().count()})));
    return output.write_back(worker_);
  }

 private:
  size_t self() const { return static_cast<size_t>(engine_.rank()); }
  const Range &my_share() const { return shares_[self()]; }

  Status take_message(const std::vector<Range> &ranges, MessageLayout &out_layout, Bytes &out_bytes) {
    out_bytes = {nullptr, lay_out_message(wire_, ranges, nullptr).bytes};
    LPT_TRY(take_scratch(worker_, static_cast<size_t>(out_bytes.count), &out_bytes.data));
    out_layout = lay_out_message(wire_, ranges, out_bytes.data);
    return {};
  }

  Status take_f32(int64_t elements, MatrixView &out_view) {
    std::byte *memory = nullptr;
    LPT_TRY(take_scratch(worker_, static_cast<size_t>(elements) * sizeof(float), &memory));
    out_view = dense_view(LPT_FORMAT_F32, memory, 1, elements);
    return {};
  }

  Status cast(const MatrixView &source, const MatrixView &target, RandomSource draws, int64_t index) {
    Cast cast;
    cast.rounding = wire_.cast.rounding;
    cast.overflow = wire_.cast.overflow;
    cast.random = draws;
    cast.random.offset += static_cast<uint64_t>(index);
    return source.columns == 0 ? Status() : cast_on_device(worker_, source, target, cast, false);
  }

  // All shares of the input.
  Status cast_input(const std::vector<MatrixView> &targets) {
    DeviceFlatView input;
    LPT_TRY(input.gather(worker_, reducing_.input));
    for (size_t share = 0; share < shares_.size(); ++share) {
      LPT_TRY(
          cast(input.run(shares_[share]), targets[share], first_draws(wire_, engine_.rank()), shares_[share].begin));
    }
    return {};
  }

  // As much from every rank as this one has.
  Status exchange(const std::vector<Bytes> &outgoing, const Bytes &mine, std::vector<Bytes> &out_incoming) {
    out_incoming.assign(shares_.size(), mine);
    for (size_t q = 0; q < shares_.size(); ++q) {
      if (q != self()) LPT_TRY(take_space(worker_, engine_, mine.count, out_incoming[q]));
    }
    return engine_.all_to_all_v(signature_of(reducing_), outgoing.data(), out_incoming.data());
  }

  // Every rank gets its share of all inputs, added up.
  Status scatter(const MatrixView &target) {
    std::vector<Bytes> outgoing(shares_.size());
    std::vector<MatrixView> targets;
    for (size_t q = 0; q < outgoing.size(); ++q) {
      MessageLayout layout;
      LPT_TRY(take_message({shares_[q]}, layout, outgoing[q]));
      targets.push_back(layout.shares[0]);
    }
    LPT_TRY(cast_input(targets));
    std::vector<Bytes> incoming;
    LPT_TRY(exchange(outgoing, outgoing[self()], incoming));
    std::vector<MatrixView> codes;
    for (const Bytes &theirs : incoming) codes.push_back(lay_out_message(wire_, {my_share()}, theirs.data).shares[0]);
    return add_up(codes, target);
  }

  // Decodes the same numbers of all ranks and reduces them.
  Status add_up(const std::vector<MatrixView> &codes, const MatrixView &target) {
    if (target.columns == 0) return {};
    std::vector<const void *> sources;
    for (const MatrixView &theirs : codes) {
      MatrixView decoded;
      LPT_TRY(take_f32(target.columns, decoded));
      LPT_TRY(dequantize_matrix(worker_, theirs, decoded, false));
      sources.push_back(decoded.data);
    }
    void *place = target.data;
    ReduceRequest request{};
    request.format = LPT_FORMAT_F32;
    request.target_format = target.format.id;
    request.reduction = reducing_.reduction;
    request.source_count = engine_.ranks();
    request.target_count = 1;
    request.factor = reducing_.factor;
    request.elements = target.columns;
    request.sources = sources.data();
    request.targets = &place;
    return queue_kernel(worker_, *reducing_.kernel, request);
  }

  Status decode(const std::vector<Bytes> &incoming) {
    DeviceFlatView output;
    LPT_TRY(output.place(worker_, reducing_.output));
    for (size_t q = 0; q < incoming.size(); ++q) {
      if (shares_[q].count() == 0) continue;
      const MatrixView codes = lay_out_message(wire_, {shares_[q]}, incoming[q].data).shares[0];
      LPT_TRY(dequantize_matrix(worker_, codes, output.run(shares_[q]), false));
    }
    return output.write_back(worker_);
  }

  Context &worker_;
  DeviceEngine &engine_;
  const WireReductionPlan &reducing_;
  const Wire &wire_;
  const std::vector<Range> &shares_;
  const Unreported unreported_;
};

}  // namespace

Status reduce_in_one_shot_on_device(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing) {
  return WireSum(worker, engine, reducing).one_shot();
}

Status reduce_in_two_shots_on_device(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing) {
  return WireSum(worker, engine, reducing).two_shots();
}

Status reduce_wire_to_parts_on_device(Context &worker, DeviceEngine &engine, const WireReductionPlan &reducing) {
  return WireSum(worker, engine, reducing).to_parts();
}

}  // namespace lpt
