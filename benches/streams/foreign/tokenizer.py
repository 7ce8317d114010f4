"""Trains a small tokenizer on a few words and writes it where AIPerf can read it.

python tokenizer.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

WORDS = "Hello there,\n how are you today? What is a torr? one two three"


def main():
    """Trains and writes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator([WORDS] * 50, trainer)
    whole = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    whole.save_pretrained(sys.argv[1])
    (Path(sys.argv[1]) / "config.json").write_text(json.dumps({"model_type": "gpt2"}))


if __name__ == "__main__":
    main()
