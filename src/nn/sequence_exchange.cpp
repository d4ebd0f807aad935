#include "src/nn/sequence_exchange.hpp"

#include <cstring>
#include <functional>

#include "src/call/operation.hpp"
#include "src/collective/collective.hpp"

namespace lpt {
namespace {

int64_t offset_of(const Tensor &tensor, int64_t elements) { return row_bytes(tensor.format.element, elements); }

// Piece i of a dense tensor of pieces.
Tensor piece_of(const Tensor &pieces, int64_t i) {
  Tensor piece = pieces;
  piece.rank = 4;
  std::copy_n(pieces.extents + 1, 4, piece.extents);
  std::copy_n(pieces.strides + 1, 4, piece.strides);
  piece.data = static_cast<std::byte *>(pieces.data) + offset_of(pieces, i * pieces.strides[0]);
  return piece;
}

}  // namespace

Status make_dense(Context &context, lpt_format format, const int64_t *extents, OwnedTensor &out) {
  Tensor *raw = nullptr;
  LPT_TRY(create_tensor(context, format, 4, extents, &raw));
  out.reset(raw);
  return {};
}

Tensor cut_axis(const Tensor &tensor, int32_t axis, int64_t first, int64_t count) {
  Tensor cut = tensor;
  cut.extents[axis] = count;
  cut.data = static_cast<std::byte *>(tensor.data) + offset_of(tensor, first * tensor.strides[axis]);
  return cut;
}

void drop_last_axis(Tensor &tensor) { --tensor.rank; }

void *element_at(const Tensor &tensor, int64_t index) {
  return static_cast<std::byte *>(tensor.data) + offset_of(tensor, index);
}

Status copy_heads(Context &context, const Tensor &source, const Tensor &target) {
  const int64_t heads = source.extents[1], positions = source.extents[2];
  const auto bytes = static_cast<size_t>(offset_of(source, source.extents[3]));
  if (source.data == target.data || bytes == 0) return {};
  parallel_parts(context, source.extents[0] * heads, positions * source.extents[3], [&](int64_t begin, int64_t count) {
    for (int64_t head = begin; head < begin + count; ++head) {
      const auto row = [&](const Tensor &tensor, int64_t position) {
        return element_at(
            tensor, head / heads * tensor.strides[0] + head % heads * tensor.strides[1] + position * tensor.strides[2]);
      };
      for (int64_t position = 0; position < positions; ++position) {
        std::memcpy(row(target, position), row(source, position), bytes);
      }
    }
  });
  return {};
}

template <typename Cut>
Status HeadExchange::exchange(const Tensor &source, const Tensor &target, const int64_t *piece, const Cut &cut_source,
                              const Cut &cut_target) const {
  const int64_t extents[] = {ranks_, piece[0], piece[1], piece[2], piece[3]};
  Tensor *raw = nullptr;
  LPT_TRY(create_tensor(context_, source.format.id, 5, extents, &raw));
  const OwnedTensor sent(raw);
  LPT_TRY(create_tensor(context_, source.format.id, 5, extents, &raw));
  const OwnedTensor received(raw);
  for (int64_t i = 0; i < ranks_; ++i) LPT_TRY(copy_heads(context_, cut_source(source, i), piece_of(*sent, i)));
  LPT_TRY(all_to_all(context_, *comm_, sent.get(), nullptr, nullptr, received.get(), nullptr));
  for (int64_t i = 0; i < ranks_; ++i) LPT_TRY(copy_heads(context_, piece_of(*received, i), cut_target(target, i)));
  return {};
}

Status HeadExchange::to_positions(const Tensor &source, OwnedTensor &out) const {
  const int64_t heads = source.extents[1] / ranks_, positions = source.extents[2];
  const int64_t extents[] = {source.extents[0], heads, positions * ranks_, source.extents[3]};
  const int64_t piece[] = {source.extents[0], heads, positions, source.extents[3]};
  using Cut = std::function<Tensor(const Tensor &, int64_t)>;
  LPT_TRY(make_dense(context_, source.format.id, extents, out));
  if (ranks_ == 1) return copy_heads(context_, source, *out);
  return exchange<Cut>(
      source, *out, piece, [&](const Tensor &tensor, int64_t i) { return cut_axis(tensor, 1, i * heads, heads); },
      [&](const Tensor &tensor, int64_t i) { return cut_axis(tensor, 2, i * positions, positions); });
}

Status HeadExchange::to_heads(const Tensor &source, const Tensor &target) const {
  const int64_t heads = source.extents[1], positions = source.extents[2] / ranks_;
  const int64_t piece[] = {source.extents[0], heads, positions, source.extents[3]};
  using Cut = std::function<Tensor(const Tensor &, int64_t)>;
  if (ranks_ == 1) return copy_heads(context_, source, target);
  return exchange<Cut>(
      source, target, piece,
      [&](const Tensor &tensor, int64_t i) { return cut_axis(tensor, 2, i * positions, positions); },
      [&](const Tensor &tensor, int64_t i) { return cut_axis(tensor, 1, i * heads, heads); });
}

}  // namespace lpt
