"""Writes a small model of random weights for llama.cpp: it answers at once, in words without sense.

Its words are syllables, which are one token each. Letters and bytes are tokens for texts that have
other words, but the model never generates them. So an answer that is sent back as part of a prompt
has the tokens that were generated, and a cache of prompts finds them.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import gguf
import numpy as np

SPACE = "▁"
SPECIAL = ("<unk>", "<s>", "</s>")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CONSONANTS, VOWELS = "bdfghklmnprstv", "aeiou"
SYLLABLES = tuple(map("".join, [*product(CONSONANTS, VOWELS), *product(VOWELS, "lmnrstkdpb")]))
PIECES = (SPACE, *LETTERS, *(SPACE + letter for letter in LETTERS))
WORDS = tuple(SPACE + syllable for syllable in SYLLABLES)
# Not found in texts, and generated in the place of words by a model whose tokens are letters.
OTHERS = tuple(SPACE + syllable.upper() for syllable in SYLLABLES)

# The answer of the assistant begins with a space, as the texts of a conversation do.
TEMPLATE = (
    "{% for message in messages %}"
    "{{ message.role }}: {{ message.content | trim }}\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)

HEADS = 4
CONTEXT = 1 << 15
# The first number of each state is positive: its weight makes tokens likely, or impossible.
ALWAYS, NEVER, END = 1.0, -8.0, 0.2


def write_model(path: Path, width: int, layers: int, *, letters: bool = False) -> None:
    """Write the file of a model whose states have `width` numbers, a multiple of 64.

    With `letters`, words of small letters have a token for each letter.
    """
    tokens = (*SPECIAL, *BYTES, *PIECES, *(OTHERS if letters else WORDS))
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(2 * width)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(width // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    _add_tokens(writer, tokens)
    for name, values in _weights(len(tokens), width, layers).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokens(writer: gguf.GGUFWriter, tokens: tuple[str, ...]) -> None:
    kinds = gguf.TokenType
    writer.add_tokenizer_model("llama")
    writer.add_token_list(list(tokens))
    # Pieces are joined in the order of their scores: longer ones come later in the list.
    writer.add_token_scores([float(number) for number in range(len(tokens))])
    writer.add_token_types(
        [kinds.UNKNOWN, kinds.CONTROL, kinds.CONTROL]
        + [kinds.BYTE] * len(BYTES)
        + [kinds.NORMAL] * (len(PIECES) + len(SYLLABLES))
    )
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(True)
    writer.add_chat_template(TEMPLATE)


def _weights(tokens: int, width: int, layers: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(1)

    def random(rows: int, columns: int) -> np.ndarray:
        return draw.normal(0, columns**-0.5, (rows, columns)).astype(np.float32)

    ones = np.ones(width, np.float32)
    embedding, output = random(tokens, width), random(tokens, width)
    embedding[:, 0] = ALWAYS
    output[: -len(SYLLABLES), 0] = NEVER
    output[-len(SYLLABLES) :, 0] = 0
    output[SPECIAL.index("</s>"), 0] = END
    weights = {"token_embd.weight": embedding, "output.weight": output, "output_norm.weight": ones}
    for layer in range(layers):
        block = f"blk.{layer}"
        weights[f"{block}.attn_norm.weight"] = weights[f"{block}.ffn_norm.weight"] = ones
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights[f"{block}.{name}.weight"] = random(width, width)
        weights[f"{block}.ffn_gate.weight"] = random(2 * width, width)
        weights[f"{block}.ffn_up.weight"] = random(2 * width, width)
        weights[f"{block}.ffn_down.weight"] = random(width, 2 * width)
    return weights
