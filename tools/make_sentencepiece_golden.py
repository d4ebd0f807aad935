#!/usr/bin/env python3
"""Makes tests/golden/sentencepiece.json: small models of the library sentencepiece, of the kind BPE, and the tokens of texts.

    python3 -m venv golden-venv
    golden-venv/bin/pip install sentencepiece==0.2.3 tokenizers==0.23.3
    golden-venv/bin/python tools/make_sentencepiece_golden.py
    golden-venv/bin/python tools/make_sentencepiece_golden.py --check FOLDER   # compares FOLDER/tokenizer.json

The models are trained on LICENSE and on some texts, as that of Llama 2: no normalization, single digits, bytes for unknown
characters. "space" puts a space before a text, "plain" does not. An entry has its tokens, scores and types (1 normal, 2 unknown,
3 control, 4 user-defined, 6 byte, as in GGUF), and texts with their tokens. No text has a control token, which sentencepiece takes
as characters.

With --check, the library tokenizers loads the tokenizer.json that run_lm has made of a GGUF file of "space". Its tokens are compared with those of sentencepiece.
"""
import argparse
import io
import json
import pathlib

import sentencepiece

from make_tokenizer_golden import ROOT, TEXTS as ALL_TEXTS

END = "<|end|>"
TEXTS = [text for text in ALL_TEXTS if END not in text] + ["a\u2581b \u2581 c", "the permission  \n to  use", "<0x0A>", "9" * 7]
FILE = ROOT / "tests" / "golden" / "sentencepiece.json"


def trained(has_prefix):
    model = io.BytesIO()
    corpus = [*(ROOT / "LICENSE").read_text(encoding="utf-8").splitlines(), *TEXTS[:11]]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=model, model_type="bpe", vocab_size=600, byte_fallback=True, split_digits=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=has_prefix, num_threads=1,
        allow_whitespace_only_pieces=True, user_defined_symbols=[END], minloglevel=2)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def kind_of(model, token):
    if model.is_unknown(token):
        return 2
    if model.is_control(token):
        return 3
    if model.is_byte(token):
        return 6
    return 4 if model.id_to_piece(token) == END else 1


def check(folder):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
    golden = json.loads(FILE.read_text(encoding="utf-8"))[0]
    for text, tokens in zip(golden["texts"], golden["tokens"], strict=True):
        found = tokenizer.encode(text, add_special_tokens=False).ids
        assert found == tokens, (text, found, tokens)
        assert tokenizer.decode(tokens) == text.replace("\u2581", " "), text
    print(f"{len(golden['texts'])} texts have the same tokens")


def main():
    parser = argparse.ArgumentParser(description="makes a golden file of sentencepiece; the source says how")
    parser.add_argument("--check", metavar="FOLDER", help="compare the tokenizer.json of a folder")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.check)
    models = []
    for name in ("space", "plain"):
        model = trained(name == "space")
        tokens = range(model.get_piece_size())
        # llama.cpp and tokenizers put a space after user-defined tokens too; sentencepiece does not.
        texts = TEXTS if name == "space" else [*TEXTS, f"x{END}y", f"{END} {END}"]
        models.append({"name": name, "pieces": [model.id_to_piece(token) for token in tokens],
                       "scores": [model.get_score(token) for token in tokens], "types": [kind_of(model, token) for token in tokens],
                       "texts": texts, "tokens": [model.encode(text) for text in texts]})
    FILE.write_text(json.dumps(models, ensure_ascii=True, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
