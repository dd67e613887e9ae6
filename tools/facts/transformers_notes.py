# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""What transformers_ropes.py needs to be told: values for defaults that build no model, roles, facts read from the source."""

# Modules with an inv_freq buffer that is no rotary embedding (relative or sinusoidal positions).
NOT_ROPE = {
    "ParakeetEncoderRelPositionalEncoding",
    "NemotronAsrStreamingEncoderRelPositionalEncoding",
    "BrosPositionalEmbedding1D",
    "PPDocLayoutV2PositionRelationEmbedding",
    "VoxtralRealtimeTimeEmbedding",
}

# Position axes of vision modules, where not two.
AXES = {"MiniMaxM3VLVisionRotaryEmbedding": 3}

OVERRIDES = {
    "bamba": {"attn_layer_indices": [9, 18, 27]},
    "cohere_compass_text": {
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [24, 20, 20]}
        }
    },
    "dots1": {"n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1},
    "deepseek_v2": {"num_experts_per_tok": 6},
    "esm": {"vocab_size": 33, "pad_token_id": 1, "position_embedding_type": "rotary"},
    "gemma4_assistant": {
        "text_config": {
            "model_type": "gemma4_text",
            "hidden_size_per_layer_input": 0,
            "vocab_size_per_layer_input": 0,
            "num_hidden_layers": 4,
            "num_kv_shared_layers": 4,
        }
    },
    "glm4v_text": {"partial_rotary_factor": 0.5},
    "glm4v_moe_text": {"head_dim": 128},
    "glm_image_text": {"partial_rotary_factor": 0.5},
    "granitemoehybrid": {
        "position_embedding_type": "rope",
        "layer_types": ["linear_attention", "full_attention"] * 16,
    },
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128, "num_experts": 8},
    "hunyuan_vl_text": {
        "head_dim": 128,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [16, 16, 16, 16]},
    },
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv"] * 8},
    "ministral": {"head_dim": 128},
    "nemotron": {"num_key_value_heads": 8},
    "qwen4_exp_text": {
        "partial_rotary_factor": 0.25,
        "indexer_n_heads": 4,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 128,
        "indexer_compress_ratio": 16,
        "indexer_budget": 512,
    },
    "wav2vec2-bert": {"position_embeddings_type": "rotary"},
    "wav2vec2-conformer": {"position_embeddings_type": "rotary"},
    "zamba2": {"use_mem_rope": True},
}

# Roles that neither the module's path nor the model type tells, by rotary class.
ROLES = {
    "DiaRotaryEmbedding": "attention",
    "EdgeTamVideoVisionRotaryEmbedding": "vision",
    "EfficientLoFTRRotaryEmbedding": "vision",
    "EomtDinov3RotaryEmbedding": "vision",
    "DINOv3ViTRopePositionEmbedding": "vision",
    "GlmAsrRotaryEmbedding": "audio",
    "HiggsAudioV2RotaryEmbedding": "attention",
    "KyutaiSpeechToTextRotaryEmbedding": "attention",
    "LasrEncoderRotaryEmbedding": "audio",
    "MLCDRotaryEmbedding": "vision",
    "MimiRotaryEmbedding": "audio",
    "MoonshineRotaryEmbedding": "attention",
    "MoonshineStreamingRotaryEmbedding": "attention",
    "MusicFlamingoRotaryEmbedding": "audio",
    "NeuCodecRotaryEmbedding": "audio",
    "Nemotron3DiarizationRotaryEmbedding": "audio",
    "Nemotron3_5TranscribeRotaryEmbedding": "audio",
    "PeAudioEncoderRotaryEmbedding": "audio",
    "PeAudioVideoEncoderRotaryEmbedding": "audio",
    "PeVideoEncoderRotaryEmbedding": "vision",
    "PocketTTSAudioTokenizerRotaryEmbedding": "audio",
    "Qwen2_5OmniDiTRotaryEmbedding": "audio",
    "Sam2VideoVisionRotaryEmbedding": "vision",
    "Sam3TrackerVideoVisionRotaryEmbedding": "vision",
    "Sam3ViTRotaryEmbedding": "vision",
    "Sapiens2RopePositionEmbedding": "vision",
    "Xcodec2RotaryEmbedding": "audio",
    "Wav2Vec2BertRotaryPositionalEmbedding": "audio",
    "Wav2Vec2ConformerRotaryPositionalEmbedding": "audio",
    "ClvpRotaryPositionalEmbedding": "attention",
}

# The apply function of a rotary class whose file has another one that would be tried first.
APPLY = {"Dots3NoteAudioRotaryEmbedding": "apply_rotary_pos_emb"}

# Rotary classes of configurations that no annotation leads to.
CLASSES = {
    "deepseek_ocr2_encoder": "DeepseekOcr2VisionRotaryEmbedding",
    "emu3_text_model": "Emu3RotaryEmbedding",
    "qwen3_omni_moe_talker_code_predictor": "Qwen3OmniMoeRotaryEmbedding",
    "qwen3_omni_moe_talker_text": "Qwen3OmniMoeTalkerRotaryEmbedding",
}

_2D = "angle = 2*pi*c*inv_freq, c = patch centre in [-1, 1] (y for the first quarter, x for the second), tiled: half pairing"
_STATES = "turns the hidden states (viewed as heads, half pairing, whole head) BEFORE the q and k projections; values are not turned"

# Facts read from the source.
READ = {
    "afmoe": {"nope": "full_attention layers"},
    "beam": {
        "nope": "layer types whose rope_parameters are null (default: full_attention); their queries times (1+(p+1)/2048)**0.1"
    },
    "clvp": {
        "apply": "half, first max(projection_dim // (2*heads), 32) elements, theta 10000; V is turned as well; only if use_rotary_embedding"
    },
    "codegen": {"theta": "10000, not configurable", "width": "rotary_dim, else hidden_size"},
    "cohere2": {"nope": "full_attention layers"},
    "cohere2_moe": {
        "nope": "full_attention layers, unless their MLP is dense and prefix_dense_sliding_window_pattern is 1"
    },
    "deepseek_v2": {"layers": "all"},
    "deepseek_v4": {
        "inverse": "the attention output is turned back by the query's angle (V shares K)",
        "ropes": "main on sliding_attention layers, compress on the others, on compressed keys and in the indexer",
    },
    "dinov3_vit": {"apply": _2D},
    "eomt_dinov3": {"apply": _2D},
    "sapiens2": {"apply": _2D},
    "efficientloftr": {
        "apply": "interleaved; angles over hidden_size, not per head: even pairs row*inv_freq, odd pairs column*inv_freq, positions from 1"
    },
    "esmfold2": {
        "apply": "half; 3 x num_spatial_rope_pairs_per_axis pairs turned by real-valued x, y, z, then num_uid_rope_pairs by an index, rest still; "
        "base**(-k/n) with n the pairs of that axis"
    },
    "evolla": {"roles": "decoder (llama-like) and a protein encoder (ESM-like)"},
    "exaone4": {"nope": "if sliding_window is set: full_attention layers; if it is null: none"},
    "exaone_moe": {"nope": "if sliding_window is set: full_attention layers; if it is null: none"},
    "falcon": {"nope": "all layers if alibi"},
    "flint": {"nope": "layers without a sliding window"},
    "gemma3n_text": {"layers": "all; the last num_kv_shared_layers turn queries only"},
    "gptj": {"theta": "10000, not configurable", "width": "rotary_dim, else hidden_size"},
    "granite_swa": {
        "layers": "layer_rope_theta[i]: the theta of layer i (0: no rope); default rope_parameters.rope_theta on all"
    },
    "granitemoe_swa": {
        "layers": "layer_rope_theta[i]: the theta of layer i (0: no rope); default rope_parameters.rope_theta on all"
    },
    "granitemoehybrid": {"nope": 'all, unless position_embedding_type is "rope" (default null)'},
    "glm5_next_text": {"nope": "all: qk_rope_head_dim is a part of the head that is never turned"},
    "higgs_audio_v2": {"layers": "all"},
    "idefics": {"layers": "all self-attention; cross-attention not"},
    "jetmoe": {"layers": "all"},
    "kolibri1": {"nope": "if sliding_window is set: full_attention layers; if it is null: none"},
    "kyutai_speech_to_text": {"layers": "all"},
    "kimi_linear": {"nope": "all: qk_rope_head_dim is a part of the head that is never turned"},
    "lara_mini": {"nope": "all but sliding_attention layers"},
    "lightglue": {"apply": "interleaved; angles are a learned linear map of two keypoint coordinates"},
    "llama4_vision_model": {
        "apply": "interleaved, whole head: pair k of the first half turns by (x+1)*f_k, of the second by (y+1)*f_k; "
        "f_k = theta**(-2k/(head/2)); the class token is not turned; table order x0..,y0.."
    },
    "llama4_text": {
        "query_scale": "layers without rope, if attn_temperature_tuning: times log1p(floor((p+1)/floor_scale))*attn_scale+1",
        "nope": "no_rope_layers[i] == 0; default every no_rope_layer_interval-th (4)",
    },
    "longcat_flash": {"layers": "all (two attentions each)"},
    "minimax_m3_vl_text": {"width": "partial_rotary_factor only: the field rotary_dim (64) is not used"},
    "mistral_large4_text": {
        "frequencies": "times exp(alpha), alpha a learned weight per pair (0 when new)",
        "nope": "no_rope_layers[i] == 0; kv-shared layers turn queries only",
    },
    "moonshine": {"layers": "encoder and decoder self-attention"},
    "moshi": {"layers": "all; depth decoder none"},
    "molmo2_text": {"layers": "scaled rope on rope_scaling_layers (default all), the unscaled one elsewhere"},
    "muse_glimmer_text": {"nope": "layer_rope_theta[i] == 0; other values of the list do not change the theta"},
    "muse_spark_text": {"nope": "layer_rope_theta[i] == 0; other values of the list do not change the theta"},
    "musicflamingo": {
        "apply": "interleaved, on audio features by time in seconds; two axes: window and time; theta is also the number of positions"
    },
    "nanochat": {"sign": "turns by the negative angle"},
    "nemotron_h": {"nope": "all (the rotary functions of the file are not called)"},
    "jamba": {"nope": "all (the rotary functions of the file are not called)"},
    "olmo_hybrid": {"nope": "linear_attention; all if rope_parameters have no theta"},
    "phimoe": {
        "scaling": "not default: short_mscale, or long_mscale beyond original_max_position_embeddings; frequencies are the short ones always"
    },
    "qwen2_5_omni_dit": {"layers": "head 0 only"},
    "roformer": {"apply": "interleaved, whole head; sinusoidal table 10000**(-2k/head); V too if rotary_value"},
    "seamless_m4t": {
        "apply": 'speech encoder, only if position_embeddings_type is "rotary" (default relative): '
        + _STATES
        + "; theta rotary_embedding_base, head hidden_size / speech_encoder_attention_heads"
    },
    "wav2vec2-bert": {
        "apply": 'only if position_embeddings_type is "rotary": ' + _STATES + "; theta rotary_embedding_base"
    },
    "wav2vec2-conformer": {
        "apply": 'only if position_embeddings_type is "rotary": ' + _STATES + "; theta rotary_embedding_base"
    },
    "esm": {"layers": 'all if position_embedding_type is "rotary", else none; theta is the field rope_theta'},
    "smollm3": {"nope": "no_rope_layers[i] == 0; default every no_rope_layer_interval-th (4)"},
    "t5gemma": {"layers": "self-attention of encoder and decoder; cross-attention not"},
    "vjepa2": {
        "apply": "no rotation: pairs (2k, 2k+1), but the angles of n = w/2 frequencies are tiled twice, so element j turns by frequency j mod n; "
        "three axes (frame, row, column) of w = 2*(head//3//2) elements each; 10000"
    },
    "zamba2": {"nope": "all, unless use_mem_rope (default false); hybrid layers only; head 2*hidden/heads"},
}
