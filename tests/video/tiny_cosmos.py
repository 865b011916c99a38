"""A Cosmos Predict 2.5 pipeline of the real classes with random weights, built in memory in a second."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch

from wiser.video.cosmos.compat import diffusers
from wiser.video.cosmos.load import PassThrough

CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'][0]['text'] }}\n{% endfor %}"


@cache
def tiny_pipeline(padding_mask: bool = True) -> Any:
    """Text encoder, transformer, VAE and scheduler as released, but for their sizes and their weights."""
    library = diffusers()
    torch.manual_seed(0)
    transformer = library.CosmosTransformer3DModel(
        in_channels=17, out_channels=16, num_attention_heads=2, attention_head_dim=16, num_layers=2, mlp_ratio=2,
        text_embed_dim=32, adaln_lora_dim=4, max_size=(16, 16, 16), patch_size=(1, 2, 2), rope_scale=(1.0, 3.0, 3.0),
        concat_padding_mask=padding_mask, extra_pos_embed_type=None,
    )  # fmt: skip
    vae = library.AutoencoderKLWan(base_dim=8, z_dim=16, dim_mult=[1, 1, 1, 1], num_res_blocks=1)
    scheduler = library.UniPCMultistepScheduler(
        use_karras_sigmas=True, use_flow_sigmas=True, prediction_type="flow_prediction", sigma_max=200.0, sigma_min=0.01
    )
    return library.Cosmos2_5_PredictBasePipeline(
        text_encoder=_text_encoder(), tokenizer=_tokenizer(), transformer=transformer.eval(), vae=vae.eval(),
        scheduler=scheduler, safety_checker=PassThrough(),
    )  # fmt: skip


def save_tiny(folder: Path) -> Path:
    """Write it as an ordinary diffusers folder."""
    tiny_pipeline().save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(letters)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token=letters[0], chat_template=CHAT)


def _text_encoder() -> Any:
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    text = {
        "vocab_size": 256, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
        "num_key_value_heads": 2, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]},
    }  # fmt: skip
    vision = {"depth": 1, "hidden_size": 16, "intermediate_size": 32, "num_heads": 2, "out_hidden_size": 16}
    config = Qwen2_5_VLConfig(text_config=text, vision_config=vision)
    return Qwen2_5_VLForConditionalGeneration(config).eval()
