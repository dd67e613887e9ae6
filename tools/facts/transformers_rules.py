# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Small config.json contents, each asking one question of the rules that fold rope keys into rope_parameters."""

_HEADS = {"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 4, "max_position_embeddings": 8192}
_G3 = {
    "hidden_size": 512,
    "num_attention_heads": 4,
    "head_dim": 64,
    "num_hidden_layers": 6,
    "max_position_embeddings": 8192,
}
_YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
_L3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 1024,
}
_SHORT = [1.0 + 0.01 * i for i in range(48)]
_LONG = [2.0 + 0.1 * i for i in range(48)]
_P3 = {"hidden_size": 3072, "num_attention_heads": 32, "num_hidden_layers": 2, "max_position_embeddings": 131072}

# (model type, contents of a config.json): each asks one question of the generic or of an overridden folding rule.
RULES = [
    ("llama", {**_HEADS}),
    ("llama", {**_HEADS, "rope_theta": 500000.0}),
    ("llama", {**_HEADS, "rope_theta": None}),
    ("llama", {**_HEADS, "rope_theta": 500000.0, "rope_parameters": {"rope_type": "default"}}),
    ("llama", {**_HEADS, "rope_theta": 500000.0, "rope_parameters": {"rope_type": "default", "rope_theta": 20000.0}}),
    ("llama", {**_HEADS, "rope_scaling": {}, "rope_parameters": {"rope_type": "linear", "factor": 2.0}}),
    (
        "llama",
        {
            **_HEADS,
            "rope_scaling": {"type": "linear", "factor": 4.0},
            "rope_parameters": {"rope_type": "default", "rope_theta": 20000.0},
        },
    ),
    ("llama", {**_HEADS, "rope_scaling": {"type": "linear", "rope_type": "default", "factor": 4.0}}),
    ("llama", {**_HEADS, "rope_scaling": {"factor": 4.0}}),
    ("llama", {**_HEADS, "rope_scaling": {"type": "linear"}}),
    ("llama", {**_HEADS, "rope_scaling": {"type": "su", "factor": 4.0}}),
    ("llama", {**_HEADS, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}),
    ("llama", {**_HEADS, "rope_scaling": {"type": "dynamic", "factor": 4.0}}),
    ("llama", {**_HEADS, "head_dim": None, "rope_scaling": {"type": "dynamic", "factor": 4.0}}),
    ("llama", {**_HEADS, "partial_rotary_factor": 0.5}),
    ("llama", {**_HEADS, "partial_rotary_factor": 0.5, "rope_scaling": {"type": "linear", "factor": 4.0}}),
    ("llama", {**_HEADS, "rope_scaling": _YARN}),
    ("llama", {**_HEADS, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "factor": None}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "original_max_position_embeddings": None}}),
    ("llama", {**_HEADS, "rope_scaling": _YARN, "original_max_position_embeddings": 1024}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "truncate": False}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "beta_fast": 0, "beta_slow": 0}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "mscale": 1.0}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "mscale": 1.0, "mscale_all_dim": 0.5}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "mscale": 1.0, "mscale_all_dim": 0.0}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "attention_factor": 1.5, "mscale": 1.0, "mscale_all_dim": 0.5}}),
    ("llama", {**_HEADS, "rope_scaling": {**_YARN, "factor": 0.5}}),
    ("llama", {**_HEADS, "rope_scaling": {"type": "yarn", "original_max_position_embeddings": 2048}}),
    ("llama", {**_HEADS, "rope_scaling": _L3}),
    ("llama", {**_HEADS, "rope_scaling": {k: v for k, v in _L3.items() if k != "original_max_position_embeddings"}}),
    ("llama", {**_HEADS, "rope_scaling": _L3, "original_max_position_embeddings": 2048}),
    ("llama", {**_HEADS, "rope_scaling": {k: v for k, v in _L3.items() if k != "low_freq_factor"}}),
    ("llama", {**_HEADS, "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.3}}),
    (
        "llama",
        {**_HEADS, "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "factor": 2.0}},
    ),
    ("llama", {**_HEADS, "head_dim": 127}),
    ("llama", {**_HEADS, "hidden_size": 4097, "num_attention_heads": 32}),
    (
        "llama",
        {**_HEADS, "layer_types": ["full_attention"] * 4, "rope_parameters": {"full_attention": {"rope_theta": 5.0}}},
    ),
    ("olmo3", {**_HEADS, "rope_theta": 777.0}),
    ("olmo3", {**_HEADS, "rope_theta": 777.0, "rope_scaling": _YARN}),
    ("olmo3", {**_HEADS, "rope_parameters": {"rope_type": "default", "rope_theta": 777.0}}),
    (
        "olmo3",
        {
            **_HEADS,
            "rope_parameters": {
                "full_attention": {**_YARN, "rope_theta": 777.0, "truncate": False},
                "sliding_attention": {"rope_type": "default", "rope_theta": 5.0},
            },
        },
    ),
    ("olmo3", {**_HEADS, "rope_parameters": {"full_attention": {**_YARN, "rope_theta": 777.0}, "truncate": False}}),
    (
        "olmo3",
        {
            **_HEADS,
            "original_max_position_embeddings": 1024,
            "rope_parameters": {"full_attention": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 777.0}},
        },
    ),
    ("gemma3_text", {**_G3}),
    (
        "gemma3_text",
        {
            **_G3,
            "rope_theta": 777.0,
            "rope_local_base_freq": 5.0,
            "sliding_window_pattern": 3,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        },
    ),
    ("gemma3_text", {**_G3, "rope_parameters": {"rope_type": "linear", "factor": 8.0, "rope_theta": 777.0}}),
    ("gemma3_text", {**_G3, "rope_theta": 777.0, "rope_parameters": {"full_attention": {"rope_type": "default"}}}),
    (
        "modernbert",
        {
            **_HEADS,
            "global_rope_theta": 777.0,
            "local_rope_theta": 5.0,
            "rope_scaling": {"type": "linear", "factor": 2.0},
        },
    ),
    ("mellum", {**_HEADS, "head_dim": 128, "rope_theta": 777.0}),
    ("laguna", {**_HEADS, "head_dim": 128, "rope_theta": 777.0, "partial_rotary_factor": 0.25}),
    ("gpt_neox", {**_HEADS, "rope_theta": 777.0}),
    ("gpt_neox", {**_HEADS, "rotary_emb_base": 777, "rotary_pct": 0.5}),
    ("glm4", {**_HEADS, "head_dim": 128}),
    ("glm4", {**_HEADS, "head_dim": 128, "partial_rotary_factor": 1.0}),
    (
        "phi3",
        {
            **_P3,
            "original_max_position_embeddings": 4096,
            "rope_scaling": {"type": "su", "short_factor": _SHORT, "long_factor": _LONG},
        },
    ),
    (
        "phi3",
        {
            **_P3,
            "rope_scaling": {
                "type": "longrope",
                "short_factor": _SHORT,
                "long_factor": _LONG,
                "original_max_position_embeddings": 8192,
            },
        },
    ),
    (
        "phi3",
        {
            **_P3,
            "rope_scaling": {
                "type": "longrope",
                "short_factor": _SHORT,
                "long_factor": _LONG,
                "attention_factor": 1.25,
                "factor": 2.0,
            },
        },
    ),
    ("phi3", {**_P3, "rope_scaling": {"type": "linear", "factor": 4.0}}),
    ("phi3", {**_P3, "rope_scaling": {"type": "longrope", "short_factor": _SHORT[:40], "long_factor": _LONG}}),
    ("qwen2_vl_text", {**_HEADS, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}),
    (
        "qwen3_vl_text",
        {**_HEADS, "head_dim": 128, "rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20]}},
    ),
    ("qwen3_vl_text", {**_HEADS, "head_dim": 128, "rope_scaling": {"type": "mrope", "mrope_section": [24, 20, 20]}}),
    (
        "hunyuan_v1_dense",
        {**_HEADS, "head_dim": 128, "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}},
    ),
    ("hunyuan_v1_dense", {**_HEADS, "head_dim": 128, "rope_scaling": {"type": "dynamic", "factor": 2.0}}),
    (
        "deepseek_v3",
        {
            "max_position_embeddings": 163840,
            "rope_scaling": {
                "type": "yarn",
                "factor": 40,
                "original_max_position_embeddings": 4096,
                "beta_fast": 32,
                "beta_slow": 1,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
            },
        },
    ),
    ("deepseek_v3", {"head_dim": 192}),
    (
        "deepseek_v4",
        {
            "rope_theta": 777.0,
            "compress_rope_theta": 5000.0,
            "max_position_embeddings": 1048576,
            "rope_scaling": {
                "type": "yarn",
                "factor": 16,
                "original_max_position_embeddings": 65536,
                "beta_fast": 32,
                "beta_slow": 1,
            },
        },
    ),
    ("gemma3_text", {**_G3, "rope_scaling": {"type": "linear", "factor": 8.0}}),
    (
        "qwen2_vl_text",
        {
            **_HEADS,
            "rope_scaling": {
                "type": "yarn",
                "factor": 4.0,
                "mrope_section": [16, 24, 24],
                "original_max_position_embeddings": 2048,
            },
        },
    ),
    ("mistral4", {**_HEADS}),
    ("gpt_oss", {**_HEADS, "head_dim": 64}),
    ("gpt_oss", {**_HEADS, "head_dim": 64, "rope_theta": 777.0}),
    ("qwen3_next", {**_HEADS, "head_dim": 256}),
    ("bamba", {**_HEADS, "partial_rotary_factor": 1.0}),
    ("persimmon", {**_HEADS}),
    ("phimoe", {**_HEADS}),
    ("minimax_m2", {**_HEADS, "head_dim": 128, "rotary_dim": 64}),
    (
        "step3p5",
        {
            **_HEADS,
            "head_dim": 128,
            "layer_types": ["full_attention", "sliding_attention"] * 2,
            "rope_theta": [777.0, 5.0, 777.0, 5.0],
            "partial_rotary_factors": [0.5, 1.0, 0.5, 1.0],
            "rope_scaling": _L3,
        },
    ),
]
