# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Configurations of transformers: the keys that bear on ropes, the defaults, and what a class makes of older keys."""

import importlib
import inspect
import math
import re

import torch
from transformers import CONFIG_MAPPING

from transformers_notes import CLASSES, OVERRIDES


KEEP = re.compile(
    r"rope|rotary|theta|head_dim|heads?$|hidden_size$|^d_model$|^embed_dim$|^n_embd$|^n_layer$|^num_layers$|^n_positions$"
    r"|num_hidden_layers|^(en|de)coder_layers$|layer_types|layers_block_type|partial|max_position_emb|sliding|mtp|nextn"
    r"|no_rope|interval|pattern|alibi|position_embeddings?_type|compress|floor_scale|attn_scale|attn_temperature"
    r"|attention_chunk|full_attn|local_attention|window|q_lora|kv_lora|indexer|index_|per_layer_config"
    r"|kv_shared|mamba_enabled|use_mem|use_long|image_size$|patch_size$|spatial_merge|conv_L|attn_layer|"
    r"rope_scaling_layers|first_k_dense|query_pre_attn|attention_multiplier|is_encoder_decoder|uid|spatial",
    re.I,
)
DROP = re.compile(
    r"mlp_layer_types|theta_scale|index_to|token|_id$|dropout|label|losses|intermediate|window_size_audio|"
    r"activation_sparsity|suppress|keys_to_ignore|hidden_size_per_layer_input|vocab",
    re.I,
)


def reduced(value, top=True):
    """The rope-relevant part of a to_dict()."""
    out = {}
    for key, item in value.items():
        if isinstance(item, dict) and ("model_type" in item or key.endswith("_config")) and key != "per_layer_config":
            part = reduced(item, False)
            if part:
                out[key] = part
        elif key == "model_type":
            out[key] = item
        elif (
            KEEP.search(key) and not DROP.search(key) and not (item is None and not re.search(r"rope|head_dim", key))
        ):
            if item is False and not re.search(r"rope|rotary|alibi|interleav", key):
                continue
            out[key] = item
    if not top and set(out) == {"model_type"} and not out["model_type"]:
        return {}
    return out


def finite(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    if isinstance(value, torch.Tensor):
        return finite(value.tolist())
    return value


def make_config(model_type):
    """The default configuration; with OVERRIDES where the default cannot make a model."""
    cls = CONFIG_MAPPING[model_type]
    return cls(**OVERRIDES.get(model_type, {}))


def rope_parameters(config):
    return finite(getattr(config, "rope_parameters", None))


def folds(model_type):
    cls = CONFIG_MAPPING[model_type]

    def result(**extra):
        try:
            return rope_parameters(cls(**{**OVERRIDES.get(model_type, {}), **extra}))
        except Exception as error:
            return {"error": type(error).__name__}

    base = result()
    out = {}
    for name, extra in (
        ("theta", {"rope_theta": 777.0}),
        ("linear", {"rope_scaling": {"type": "linear", "factor": 4.0}}),
        ("partial", {"partial_rotary_factor": 0.75}),
    ):
        value = result(**extra)
        out[name] = "same" if value == base and value is not None else value
    return out


LETTERS = {
    "full_attention": "F",
    "sliding_attention": "S",
    "linear_attention": "L",
    "conv": "C",
    "hybrid": "H",
    "hybrid_sliding": "h",
    "chunked_attention": "K",
    "indexed_attention": "I",
    "window_attention": "W",
    "compressed_sparse_attention": "P",
    "heavily_compressed_attention": "Q",
    "minimax_m3_sparse": "M",
    "reference_sliding_attention": "R",
    "moe": "E",
}


def pattern(model_type):
    """layer_types that the class derives for 24 layers, one letter each."""
    try:
        given = {k: v for k, v in OVERRIDES.get(model_type, {}).items() if k != "layer_types"}
        types = CONFIG_MAPPING[model_type](**given, num_hidden_layers=24).layer_types
        return "".join(LETTERS.get(t, "?") for t in types) if types else None
    except Exception:
        return None


def head_dim_rule(model_type):
    cls = CONFIG_MAPPING[model_type]
    try:
        one = cls(**OVERRIDES.get(model_type, {}))
        hidden = one.hidden_size
        value = getattr(one, "head_dim", None)
        if value is None:
            return "none"
        other = cls(**{**OVERRIDES.get(model_type, {}), "hidden_size": hidden * 2})
        return "derived" if other.head_dim != value else "fixed"
    except Exception:
        return None


def annotated_rotaries(config):
    """Rotary modules of the modeling file whose __init__ is annotated with this configuration's class."""
    package = type(config).__module__.rsplit(".", 1)[0]
    stem = package.rsplit(".", 1)[1]
    module = importlib.import_module(f"{package}.modeling_{stem}")
    for name, cls in sorted(vars(module).items()):
        if inspect.isclass(cls) and issubclass(cls, torch.nn.Module) and cls.__module__ == module.__name__:
            if not re.search(r"Rotary|RopePosition", name):
                continue
            if CLASSES.get(config.model_type) == name:
                yield name, cls
                continue
            hints = [p.annotation for p in inspect.signature(cls.__init__).parameters.values()]
            if any(getattr(h, "__name__", h) == type(config).__name__ for h in hints):
                yield name, cls
