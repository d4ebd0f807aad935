#include "model.hpp"

#include "indices.hpp"

namespace lm {

namespace {

constexpr double kEmbeddingGain = 4.0;
constexpr double kHeadGain = 0.5;

template <typename T>
std::deque<Block<T>> make_blocks(lpt_context *context, const ModelShape &shape, const Precision &precision,
                                 ParameterList &parameters, const Parallel &parallel) {
  std::deque<Block<T>> blocks;
  for (int64_t i = 0; i < shape.layers; ++i) {
    const Recipe recipe = make_block_recipe(context, precision, i + 1 == shape.layers);
    blocks.emplace_back(context, shape, precision, recipe.get(), i, parameters, parallel);
  }
  return blocks;
}

// Each rank has the logits of some bytes.
Slice head_slice(const Parallel &parallel) {
  const TensorRanks *ranks = parallel.tensor;
  return ranks == nullptr ? Slice{} : Slice{.rank = ranks->rank(), .ranks = ranks->ranks()};
}

}  // namespace

template <typename T>
Model<T>::Model(lpt_context *context, const ModelShape &shape, const Precision &precision, uint64_t seed,
                Parallel parallel)
    : shape_(shape),
      precision_(precision),
      seed_(seed),
      parallel_(parallel),
      parameters_(precision, kFormatOf<T>, seed),
      embedding_(parameters_.matrix(context, "embedding", kVocabulary, shape.width, kEmbeddingGain)),
      blocks_(make_blocks<T>(context, shape, precision, parameters_, parallel)),
      norm_(parameters_.norm(context, "norm", shape.width)),
      head_(context, make_recipe(context, precision.head_recipe.c_str()).get(),
            parameters_.matrix(context, "head", kVocabulary, shape.width, kHeadGain, false, head_slice(parallel)),
            parallel.tensor, LPT_LINEAR_PARALLEL_COLUMNS) {
  prepare(context, 0);
}

template <typename T>
Activations<T> Model<T>::make_activations(lpt_context *context, int64_t sequences) const {
  const int64_t rows = sequences * shape_.sequence;
  Activations<T> made{.stream = Matrix<T>(context, rows, shape_.width),
                      .blocks = {},
                      .scratch = BlockScratch<T>(context, shape_, shape_.part(tensor_ranks()), precision_, rows),
                      .rms = Matrix<T>(context, 1, rows),
                      .logits = Matrix<T>(context, rows, kVocabulary / tensor_ranks()),
                      .gradient = Matrix<T>(context, rows, shape_.width),
                      .head_saved = head_.make_saved(context, rows)};
  for (const Block<T> &block : blocks_) {
    made.blocks.push_back(block.make_activations(context, rows));
  }
  return made;
}

template <typename T>
size_t Activations<T>::bytes(lpt_context *context) const {
  size_t sum = tensor_bytes(context, stream.tensor()) + tensor_bytes(context, rms.tensor()) +
               tensor_bytes(context, logits.tensor()) + tensor_bytes(context, head_saved.get());
  for (const BlockActivations<T> &block : blocks) {
    sum += block.bytes(context);
  }
  return sum;
}

template <typename T>
void Model<T>::raise(lpt_context *context, Raised raised, uint32_t step) {
  precision_.raised = raised;
  renew_recipes(context, step);
}

template <typename T>
void Model<T>::set_recipe(lpt_context *context, const std::string &recipe, uint32_t step) {
  precision_.recipe = recipe;
  renew_recipes(context, step);
}

template <typename T>
void Model<T>::renew_recipes(lpt_context *context, uint32_t step) {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Recipe recipe = make_block_recipe(context, precision_, i + 1 == blocks_.size());
    for (Linear *linear : blocks_[i].linears()) {
      linear->set_recipe(context, recipe.get());
    }
  }
  prepare(context, step);
}

template <typename T>
std::vector<Linear *> Model<T>::linears() {
  std::vector<Linear *> all;
  for (Block<T> &block : blocks_) {
    for (Linear *linear : block.linears()) {
      all.push_back(linear);
    }
  }
  all.push_back(&head_);
  return all;
}

template <typename T>
void Model<T>::prepare(lpt_context *context, uint32_t step) {
  for (Linear *linear : linears()) {
    linear->prepare(context, seed_, step);
  }
}

template <typename T>
size_t Model<T>::cast_bytes(lpt_context *context) {
  size_t bytes = 0;
  for (const Linear *linear : linears()) {
    bytes += linear->cast_bytes(context);
  }
  return bytes;
}

template <typename T>
int64_t Model<T>::tensor_ranks() const {
  return parallel_.tensor == nullptr ? 1 : parallel_.tensor->ranks();
}

// Returns the pass with the first row of this rank in the batch of all ranks.
template <typename T>
Pass Model<T>::located(const Pass &pass, int64_t rows) const {
  Pass here = pass;
  here.first_row = parallel_.rank * rows;
  return here;
}

template <typename T>
void Model<T>::forward(lpt_context *context, std::span<const uint8_t> inputs, const Pass &pass, Activations<T> &kept) {
  const Pass here = located(pass, static_cast<int64_t>(inputs.size()));
  check(context, lpt_embedding_forward(context, embedding_->value.get(), Indices(context, inputs).tensor(), nullptr,
                                       blocks_[0].input(kept.blocks[0], kept.scratch)));
  const lpt_tensor *residual = nullptr;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    residual = blocks_[i].forward(context, residual, here, kept.blocks[i], kept.scratch);
  }
  check(context, lpt_rmsnorm_forward_sum(context, residual, kept.scratch.projected.tensor(), norm_->value.get(),
                                         nullptr, kept.stream.tensor(), kept.scratch.normed.get(), kept.rms.tensor()));
  head_.forward(context, kept.scratch.normed.get(), nullptr, here, kept.head_saved.get(), kept.logits.tensor());
}

template <typename T>
void Model<T>::backward(lpt_context *context, std::span<const uint8_t> inputs, const Pass &pass, Activations<T> &kept) {
  const Pass here = located(pass, static_cast<int64_t>(inputs.size()));
  lpt_rmsnorm_options norm = LPT_RMSNORM_OPTIONS_INIT;
  norm.is_accumulated = pass.is_accumulated ? 1 : 0;
  head_.backward(context, kept.head_saved.get(), kept.logits.tensor(), here, kept.scratch.normed.get());
  check(context, lpt_rmsnorm_backward(context, kept.stream.tensor(), norm_->value.get(), kept.rms.tensor(),
                                      kept.scratch.normed.get(), &norm, kept.gradient.tensor(), norm_->gradient.get()));
  if (parallel_.tensor == nullptr) {
    pass.tell(context, *norm_);
  }
  for (size_t i = blocks_.size(); i-- > 0;) {
    blocks_[i].backward(context, here, kept.blocks[i], kept.scratch, kept.gradient);
  }
  // Every rank has the same input stream and a partial gradient of it.
  if (parallel_.tensor != nullptr) {
    parallel_.tensor->reduce(context, kept.gradient.tensor());
  }
  lpt_embedding_options embedding = LPT_EMBEDDING_OPTIONS_INIT;
  embedding.is_accumulated = norm.is_accumulated;
  check(context, lpt_embedding_backward(context, Indices(context, inputs).tensor(), kept.gradient.tensor(), &embedding,
                                        embedding_->gradient.get()));
  pass.tell(context, *embedding_);
}

template struct Activations<float>;
template struct Activations<double>;
template class Model<float>;
template class Model<double>;

}  // namespace lm
