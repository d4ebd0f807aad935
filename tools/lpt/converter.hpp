// Executes the items of a plan in order: reads rows, casts them, and writes each part at its offset in the plan.
#pragma once

#include <functional>
#include <vector>

#include "cast.hpp"
#include "plan.hpp"

namespace tool {

struct ItemResult {
  uint64_t read_digest = 0;     // of the bytes of the input, in the order of reading
  uint64_t written_digest = 0;  // of the bytes of the output, part by part
  float amax = 0.0f;
  CastError error;
};

class Converter {
 public:
  using Report = std::function<void(uint64_t bytes)>;  // processed bytes of the input

  Converter(lpt_context *context, const Checkpoint &input, const Plan &plan, int64_t memory_bytes)
      : context_(context), input_(input), plan_(plan), memory_bytes_(memory_bytes) {}

  // Returns the rows of one slice. Throws Error if the minimum needs more memory than allowed.
  int64_t rows_at_once(const Item &item) const;

  ItemResult run(const Item &item, File &output, const Report &report) const;

  // Returns digests of the file contents that equal those of run(), for a second run.
  uint64_t digest_of_input(const Item &item) const;
  uint64_t digest_of_output(const Item &item, const File &output) const;

  // Reads the item back from `made` and compares it with a second cast. Throws Error at the first difference.
  void verify(const Item &item, const Checkpoint &made, const Report &report) const;

 private:
  struct Rows {
    int64_t first = 0;
    int64_t count = 0;
  };
  using Visit = std::function<void(Rows rows)>;

  void for_each_piece(const Item &item, const Visit &visit) const;
  ItemResult copy(const Item &item, File &output, const Report &report) const;
  ItemResult encode(const Item &item, File &output, const Report &report) const;
  ItemResult cast(const Item &item, File &output, const Report &report) const;
  ItemResult decode(const Item &item, File &output, const Report &report) const;
  float find_amax(const Item &item) const;
  uint64_t place_of(const Item &item, Role role) const;

  lpt_context *context_;
  const Checkpoint &input_;
  const Plan &plan_;
  int64_t memory_bytes_;
};

}  // namespace tool
