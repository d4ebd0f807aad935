#include "src/nn/places.hpp"

namespace lpt {

Status select_index_kernel(Context &context, const MatrixView &indices, bool is_on_cpu, int64_t ignored,
                           DeviceIndices &out) {
  out = {indices, is_on_cpu, {}, nullptr};
  out.request.is_wide = indices.format.id == LPT_FORMAT_INT64;
  out.request.rows = indices.columns;
  out.request.ignored_target = ignored;
  return select_kernel(context, "places", out.request, {indices.format.id}, &out.kernel);
}

Status queue_places(Context &context, int64_t first, int64_t classes, DeviceIndices &places) {
  PlacesRequest &request = places.request;
  LPT_TRY(take_indices(context, places.indices, places.is_on_cpu, &request.targets));
  LPT_TRY(take_numbers(context, request.rows + 1, &request.counted));
  request.places = request.counted + 1;
  request.first = first;
  request.classes = classes;
  return queue_kernel(context, *places.kernel, request);
}

}  // namespace lpt
