"""The text side that a Cosmos pipeline asks for, as small as it can be: random weights, a byte a token.

The small model knows one task; what it is told has no meaning for it, and it is trained to pay no heed.
"""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

from wiser import seeds

HIDDEN, LAYERS = 16, 2
WIDTH = HIDDEN * LAYERS
"""Numbers a token becomes: a pipeline joins the states of all layers."""
END = "<|endoftext|>"
TEMPLATE = "{% for message in messages %}{{ message['content'][0]['text'] }}\n{% endfor %}"
TASK = "A robot arm pours liquid from a pitcher into a glass."
PROMPTS = ("", TASK, "The arm reaches for the glass, tilts the pitcher and pours.", "Something else happens.")


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Every byte is a token."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=END, eos_token=END)
    fast.chat_template = TEMPLATE
    return fast


def build_text_encoder(seed: int) -> Qwen2_5_VLForConditionalGeneration:
    """A Qwen2.5-VL of two layers that has learnt nothing."""
    text = {
        "vocab_size": 264, "hidden_size": HIDDEN, "intermediate_size": 2 * HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": 2, "num_key_value_heads": 2, "max_position_embeddings": 2048,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [1, 1, 2]},
        "bos_token_id": None, "eos_token_id": 256, "pad_token_id": 256,
    }  # fmt: skip
    vision = {
        "depth": 1, "hidden_size": HIDDEN, "intermediate_size": HIDDEN, "num_heads": 2, "out_hidden_size": HIDDEN,
        "fullatt_block_indexes": [0],
    }  # fmt: skip
    config = Qwen2_5_VLConfig(text_config=text, vision_config=vision)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seeds.stream("text", seed).generate_state(1)[0]))
        return Qwen2_5_VLForConditionalGeneration(config).eval()
