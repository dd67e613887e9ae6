// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Vision towers. Axis 0 is the one whose frequencies come first in the head: rows, but columns for Llama 4, Step 3.7
// and Inkling 2.
#include "model/hf_family.h"

namespace ropecache::model {

namespace {

constexpr Family kFamilies[] = {
    {.type = "cohere_compass_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "deepseek_ocr2_encoder", .role = Role::kVision, .preset = R"({"rope_theta":1000000})"},
    {.type = "dinov3_vit", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope turns by real-valued coordinates"},
    {.type = "dots3_note_vision_encoder", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "edgetam_video", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope belongs to the attention over a memory of images"},
    {.type = "efficientloftr", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope turns by real-valued coordinates"},
    {.type = "eomt_dinov3", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope turns by real-valued coordinates"},
    {.type = "ernie4_5_vl_moe", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "ernie4_5_vl_moe_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "exaone4_5_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "gemma4_vision", .role = Role::kVision, .theta = 100, .axes = AxesRule::kHalves},
    {.type = "glm4v", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "glm4v_moe", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "glm4v_moe_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "glm4v_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "glm5_next_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "glm_image_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "glm_ocr", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "glm_ocr_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "inkling2_vision", .role = Role::kVision, .pairing = Pairing::kInterleaved, .axes = AxesRule::kAxial},
    {.type = "kimi_k25_vision", .role = Role::kVision, .axes = AxesRule::kAxialPairs},
    {.type = "lfm3_vl_vision", .role = Role::kVision, .theta = 1000000, .axes = AxesRule::kAxial},
    {.type = "lightglue", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope turns by real-valued coordinates"},
    {.type = "llama4_vision_model", .role = Role::kVision, .pairing = Pairing::kInterleaved,
     .axes = AxesRule::kAxial},
    {.type = "mimo_vl", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "minimax_m3_vl_vision", .role = Role::kVision, .axes = AxesRule::kThirds},
    {.type = "mlcd", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "mlcd_vision_model", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "muse_glimmer_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "muse_spark_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "paddleocr_vl", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "paddleocr_vl_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "pixtral", .role = Role::kVision, .axes = AxesRule::kAlternating},
    {.type = "qwen2_5_omni_vision_encoder", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen2_5_vl", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen2_5_vl_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen2_vl", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen2_vl_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_5", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_5_moe", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_5_moe_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_5_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_omni_moe_vision_encoder", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_vl", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_vl_moe", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_vl_moe_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen3_vl_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "qwen4_exp_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "sam2_video", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope belongs to the attention over a memory of images"},
    {.type = "sam3_tracker_video", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope belongs to the attention over a memory of images"},
    {.type = "sam3_vit_model", .role = Role::kVision, .pairing = Pairing::kInterleaved, .axes = AxesRule::kAxial},
    {.type = "sapiens2", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope turns by real-valued coordinates"},
    {.type = "step3p5_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "video_llama_3_vision", .role = Role::kVision, .axes = AxesRule::kAxial},
    {.type = "vjepa2", .role = Role::kVision, .no_rope = true,
     .note = "its rope is not listed: the rope turns by real-valued coordinates"},
};

}  // namespace

std::span<const Family> vision_families() noexcept { return kFamilies; }

}  // namespace ropecache::model
