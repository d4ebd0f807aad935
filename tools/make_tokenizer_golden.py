#!/usr/bin/env python3
"""Makes tests/golden/tokenizers.json from the library tokenizers: small BPE tokenizers, and the tokens of texts.

    python3 -m venv golden-venv
    golden-venv/bin/pip install tokenizers==0.23.3
    golden-venv/bin/python tools/make_tokenizer_golden.py

Each entry has a name, the content of a tokenizer.json, texts, their tokens without special tokens of the template, and the
tokens of the template before a text. The tokenizers are trained on LICENSE and on some of TEXTS:

bytes    byte level with single digits, as SmolLM2
words    byte level with the pattern of Llama 3, words of the vocabulary without merges, a template with a first token
prefix   byte level with a space before each part
pieces   characters with a mark for spaces, bytes for unknown characters, as Llama 2
first    the same by Metaspace, with the mark only before the text
"""
import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing

ROOT = pathlib.Path(__file__).resolve().parent.parent
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEXTS = [
    "", " ", "a", "The permission notice shall be included.", "  two  spaces   and\ttabs\t\t", "line\n\n\nend \n ",
    "It's we'll I'VE don't 'quoted'", "3.14159 and 1234567 or ½ Ⅷ ٣", "for (int i = 0; i < n; ++i) { x[i] += 2 * y[i]; }",
    "naïve café, Ångström, e\u0301 and ﬁ", "Привет, мир! Καλημέρα κόσμε", "日本語のテキスト、漢字とかな。", "ไทย हिन्दी العربية",
    "emoji 👩‍🔬 🇫🇷 🙂🙂", "no\u00a0break\u2003space\u3000ideographic", "<s>begin<|end|> and <|endless", "x" * 40, "\u0000\u0001\u007f\u0085",
    "in CamelCase snake_case kebab-case", "\r\nwindows\r\n", "▁mark", "<0x41>"]


def trained(model, texts, trainer_options, **parts):
    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    trainer = trainers.BpeTrainer(vocab_size=600, show_progress=False, **trainer_options)
    tokenizer.train_from_iterator([(ROOT / "LICENSE").read_text(encoding="utf-8"), *texts], trainer)
    return tokenizer


def edited(tokenizer, **members):
    """Returns the tokenizer with other members of its model."""
    text = json.loads(tokenizer.to_str())
    text["model"].update(members)
    return Tokenizer.from_str(json.dumps(text))


def byte_level(*steps):
    return {"pre_tokenizer": pre_tokenizers.Sequence([*steps]), "decoder": decoders.ByteLevel()}


def make():
    special = [AddedToken("<s>", special=True), AddedToken("<|end|>", special=True)]
    alphabet = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "special_tokens": special}
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    words = trained(models.BPE(), TEXTS[:14], alphabet, **byte_level(pre_tokenizers.Split(Regex(LLAMA3), "isolated"), plain))
    words.post_processor = TemplateProcessing("<s> $A", special_tokens=[("<s>", words.token_to_id("<s>"))])
    # A token without a merge.
    vocabulary = json.loads(words.to_str())["model"]["vocab"]
    words = edited(words, ignore_merges=True, vocab={**vocabulary, "ĠCamelCase": len(vocabulary)})
    pieces_options = {"special_tokens": ["<unk>", *special, *(f"<0x{byte:02X}>" for byte in range(256))]}
    mark = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    pieces = trained(models.BPE(unk_token="<unk>"), TEXTS[:9], pieces_options, normalizer=mark)
    pieces = edited(pieces, byte_fallback=True, fuse_unk=True)
    space = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    first = edited(trained(models.BPE(unk_token="<unk>"), TEXTS[:9], pieces_options, pre_tokenizer=space), byte_fallback=True)
    # The tokens of bytes are no special tokens in texts.
    keep = {"<unk>", "<s>", "<|end|>"}
    unlisted = []
    for tokenizer in (pieces, first):
        text = json.loads(tokenizer.to_str())
        text["added_tokens"] = [token for token in text["added_tokens"] if token["content"] in keep]
        unlisted.append(Tokenizer.from_str(json.dumps(text)))
    return {
        "bytes": trained(models.BPE(), TEXTS[:14], alphabet, **byte_level(pre_tokenizers.Digits(individual_digits=True),
                                                               pre_tokenizers.ByteLevel(add_prefix_space=False))),
        "words": words,
        "prefix": trained(models.BPE(), TEXTS[:14], alphabet, **byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True))),
        "pieces": unlisted[0], "first": unlisted[1]}


def main():
    entries = []
    for name, tokenizer in make().items():
        with_template = tokenizer.encode("a").ids
        tokens = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]
        prefix = with_template[:len(with_template) - len(tokenizer.encode("a", add_special_tokens=False).ids)]
        entries.append({"name": name, "tokenizer": json.loads(tokenizer.to_str()), "prefix": prefix, "tokens": tokens})
    lines = [json.dumps(entry, ensure_ascii=True, separators=(",", ":")) for entry in entries]
    text = '{"texts":' + json.dumps(TEXTS) + ',\n"tokenizers":[\n' + ",\n".join(lines) + "\n]}\n"
    (ROOT / "tests" / "golden" / "tokenizers.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
