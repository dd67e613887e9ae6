// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// llama.cpp's rules: llama_hparams::set_swa_pattern, llama_model_base::load_swa_pattern, and the graphs of src/models.
#include "model/gguf_layers.h"

#include <algorithm>

#include "model/assemble.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::string_view kWindow = "attention.sliding_window";
constexpr std::string_view kPattern = "attention.sliding_window_pattern";

class LayerReader {
 public:
  LayerReader(const GgufArchitecture& row, const GgufKeys& keys) : row_(row), keys_(keys) {}

  GgufLayers read() {
    count();
    out_.sliding.assign(static_cast<std::size_t>(out_.all()), false);
    if (has_window()) read_pattern();
    out_.windowed = std::find(out_.sliding.begin(), out_.sliding.end(), true) != out_.sliding.end();
    out_.rotates.assign(static_cast<std::size_t>(out_.all()), row_.rope != GgmlRope::kNone);
    if (row_.rope != GgmlRope::kNone) decide();
    return std::move(out_);
  }

 private:
  void count() {
    const auto blocks = keys_.integer("block_count", 1, kMaxLayers);
    if (!blocks) keys_.refuse("block_count", "the number of layers");
    const auto mtp = keys_.integer("nextn_predict_layers", 0, *blocks);
    out_.mtp = static_cast<int>(mtp.value_or(0));
    out_.decoder = static_cast<int>(*blocks) - out_.mtp;
  }

  bool has_window() {
    switch (row_.window) {
      case Window::kNever:
        return false;
      case Window::kAlways:
      case Window::kArray:
        keys_.integer(kWindow, 0, std::int64_t{1} << 31);
        return true;
      case Window::kIfKey:
        return keys_.integer(kWindow, 0, std::int64_t{1} << 31).value_or(0) > 0;
      case Window::kUnlessZero:
        return keys_.integer(kWindow, 0, std::int64_t{1} << 31).value_or(1) > 0;
      case Window::kIf64Layers:
        return out_.decoder == 64;
    }
    return false;
  }

  void read_pattern() {
    if (keys_.is_list(kPattern)) {
      const std::vector<int> pattern = *keys_.integers(kPattern, out_.decoder);
      const std::size_t known = std::min(pattern.size(), out_.sliding.size());
      for (std::size_t layer = 0; layer < known; ++layer) out_.sliding[layer] = pattern[layer] != 0;
      return;
    }
    if (row_.window == Window::kArray) keys_.refuse(kPattern, "a list that says of each layer whether it slides");
    std::int64_t period = row_.period;
    if (const auto given = keys_.integer(kPattern, 0, kMaxLayers)) {
      period = *given;
    } else {
      keys_.defaulted(kPattern, text(period),
                      row_.dense_first ? "of this architecture; the first layer is full"
                                       : "of this architecture; the last one is full");
    }
    for (int layer = 0; layer < out_.decoder; ++layer) {
      const std::int64_t place = period == 0 ? 0 : layer % period;
      const bool full = period != 0 && place == (row_.dense_first ? 0 : period - 1);
      out_.sliding[static_cast<std::size_t>(layer)] = !full;
    }
  }

  void decide() {
    switch (row_.rotates) {
      case Rotates::kAll:
        return;
      case Rotates::kSkipLastOf4:
        return skip_last_of_4();
      case Rotates::kSkipFirstOf4:
        if (out_.windowed) keep([](int layer) { return layer % 4 != 0; });
        return;
      case Rotates::kSliding:
        return keep([this](int layer) { return slides(layer); });
      case Rotates::kSlidingOrDense: {
        const auto dense = keys_.integer("leading_dense_block_count", 0, kMaxLayers).value_or(0);
        return keep([this, dense](int layer) { return slides(layer) || layer < dense; });
      }
      case Rotates::kSlidingIfAny:
        if (out_.windowed) keep([this](int layer) { return slides(layer); });
        return;
      case Rotates::kWithKvHeads:
        return with_kv_heads();
      case Rotates::kEveryInterval:
        return every_interval();
      case Rotates::kIfFinetuned:
        return if_finetuned();
      case Rotates::kIfFinetunedAndKv:
        if_finetuned();
        return with_kv_heads();
      case Rotates::kByPattern:
        if (const auto pattern = keys_.integers("attention.rope_pattern", out_.decoder)) {
          keep([&](int layer) {
            return static_cast<std::size_t>(layer) >= pattern->size() ||
                   (*pattern)[static_cast<std::size_t>(layer)] != 0;
          });
        }
        return;
      case Rotates::kUnless40Layers:
        if (out_.decoder == 40) keep([](int) { return false; });
        return;
    }
  }

  template <class Rule>
  void keep(const Rule& rule) {
    for (int layer = 0; layer < out_.all(); ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      out_.rotates[at] = out_.rotates[at] && rule(layer);
    }
  }

  bool slides(int layer) const { return out_.sliding[static_cast<std::size_t>(layer)]; }

  void skip_last_of_4() {
    if (row_.window != Window::kUnlessZero || out_.windowed)
      return keep([](int layer) { return (layer + 1) % 4 != 0; });
    keys_.audit().warn("attention.sliding_window is 0, so every layer rotates; llama.cpp leaves out the last one");
  }

  void with_kv_heads() {
    const auto heads = keys_.integers("attention.head_count_kv", out_.decoder);
    if (!heads) return;
    keep([&](int layer) {
      return static_cast<std::size_t>(layer) >= heads->size() || (*heads)[static_cast<std::size_t>(layer)] != 0;
    });
  }

  void every_interval() {
    if (const auto recurrent = keys_.integers("attention.recurrent_layers", out_.decoder)) {
      return keep([&](int layer) {
        return static_cast<std::size_t>(layer) >= recurrent->size() ||
               (*recurrent)[static_cast<std::size_t>(layer)] == 0;
      });
    }
    std::int64_t interval = row_.period;
    if (const auto given = keys_.integer("full_attention_interval", 1, kMaxLayers)) {
      interval = *given;
    } else {
      keys_.defaulted("full_attention_interval", text(interval), "of this architecture");
    }
    keep([this, interval](int layer) { return layer >= out_.decoder || (layer + 1) % interval == 0; });
  }

  void if_finetuned() {
    const bool rotates = keys_.flag("rope.scaling.finetuned").value_or(true);
    keep([rotates](int) { return rotates; });
  }

  const GgufArchitecture& row_;
  const GgufKeys& keys_;
  GgufLayers out_;
};

}  // namespace

GgufLayers read_gguf_layers(const GgufArchitecture& row, const GgufKeys& keys) { return LayerReader(row, keys).read(); }

}  // namespace ropecache::model
