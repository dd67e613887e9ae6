// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// GGUF files that are cut, broken or made to hurt: a clean error, at once, and no memory by a number in the file.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "model/gguf_writer.h"
#include "model/model_test_util.h"
#include "ropecache/model.h"

namespace ropecache {
namespace {

using test::append;
using test::append_string;
using test::expect_clean;
using test::gguf_model;
using test::GgufWriter;

constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;

Status status_of(std::string_view bytes) { return read_model_gguf(bytes, "bad.gguf").status(); }

void expect_error(const std::string& bytes, std::string_view text) {
  const Status status = status_of(bytes);
  expect_clean(status, "bad.gguf");
  EXPECT_EQ(status.message(), "bad.gguf: " + std::string(text));
}

GgufWriter base() { return gguf_model("llama", 2, 256, 4, 4096).f32("rope.freq_base", 10000); }

std::string value(auto... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

// A file whose last bytes are those of a rope tensor, so that no prefix of it is whole.
std::string whole_file() {
  return base()
      .text("general.name", "a model")
      .flag("some.flag", true)
      .u64("some.large", 1)
      .f64("some.double", 0.5)
      .floats("some.list", {1, 2, 3})
      .raw("tokenizer.ggml.tokens", 9,
           value(std::uint32_t{8}, std::uint64_t{2}) + value(std::uint64_t{1}) + "a" + value(std::uint64_t{1}) + "b")
      .raw("some.nested", 9,
           value(std::uint32_t{9}, std::uint64_t{1}, std::uint32_t{4}, std::uint64_t{1}, std::uint32_t{7}))
      .tensor("token_embd.weight", {1, 2, 3, 4})
      .tensor("rope_freqs.weight", std::vector<float>(32, 2))
      .bytes();
}

TEST(HostileGguf, EveryPrefixIsACleanError) {
  const std::string file = whole_file();
  ASSERT_TRUE(read_model_gguf(file, "bad.gguf").ok()) << status_of(file).message();
  for (std::size_t length = 0; length < file.size(); ++length) {
    SCOPED_TRACE(length);
    expect_clean(status_of(std::string_view(file).substr(0, length)), "bad.gguf");
  }
}

TEST(HostileGguf, EveryByteTurnedOverIsAnAnswer) {
  const std::string file = whole_file();
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string broken = file;
      broken[at] = static_cast<char>(broken[at] ^ flip);
      const Result<ModelRopes> model = read_model_gguf(broken, "bad.gguf");
      if (!model.ok()) expect_clean(model.status(), "bad.gguf");
    }
  }
}

TEST(HostileGguf, Headers) {
  expect_error("", "ends within the magic \"GGUF\", after 0 bytes");
  expect_error("GGML" + std::string(20, '\0'), "begins with \"GGML\", expected \"GGUF\"");
  expect_error(base().bytes(1), "is GGUF version 1, expected 2 or 3");
  expect_error(base().bytes(4), "is GGUF version 4, expected 2 or 3");
  expect_error(base().bytes(0x03000000), "is a big-endian GGUF file, expected little-endian");
  expect_error("GGUF" + value(std::uint32_t{3}, std::uint64_t{0}, kHuge),
               "has 9223372036854775808 metadata keys, expected at most 65536");
  expect_error("GGUF" + value(std::uint32_t{3}, kHuge, std::uint64_t{0}),
               "has 9223372036854775808 tensors, more than the 0 bytes left can describe");
}

TEST(HostileGguf, Metadata) {
  const auto key = [](std::uint32_t type, const std::string& bytes) { return base().raw("k", type, bytes).bytes(); };
  expect_error(key(13, ""), "llama.k: value type 13, expected 0 to 12");
  expect_error(key(0xffffffff, ""), "llama.k: value type 4294967295, expected 0 to 12");
  expect_error(key(9, value(std::uint32_t{77}, std::uint64_t{1})), "llama.k: value type 77, expected 0 to 12");
  for (const std::uint32_t type : {0u, 4u, 7u, 8u, 9u, 12u}) {
    SCOPED_TRACE(type);
    const Status status = status_of(key(9, value(type, kHuge)));
    expect_clean(status, "bad.gguf");
    EXPECT_NE(status.message().find("an array of 9223372036854775808 elements"), std::string::npos) << status.message();
  }
  for (const std::uint64_t length : {std::uint64_t{1000}, kHuge, std::numeric_limits<std::uint64_t>::max()}) {
    SCOPED_TRACE(length);
    expect_clean(status_of(key(8, value(length))), "bad.gguf");
    expect_clean(status_of(key(9, value(std::uint32_t{8}, std::uint64_t{1}, length))), "bad.gguf");
    std::string name = "GGUF" + value(std::uint32_t{3}, std::uint64_t{0}, std::uint64_t{1}, length);
    expect_clean(status_of(name), "bad.gguf");
  }
  std::string nested;
  for (int depth = 0; depth < 100000; ++depth) nested += value(std::uint32_t{9}, std::uint64_t{1});
  expect_error(key(9, nested), "llama.k: arrays nested deeper than 8");
  expect_error(base().u32("k", 1).u32("k", 1).bytes(),
               "metadata key number 7 repeats an earlier key, expected each once");
  expect_error("GGUF" + value(std::uint32_t{3}, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0}),
               "metadata key number 0 has a name of 0 bytes, expected 1 to 65535");
  expect_error(base().u32("new\nline", 1).bytes(),
               "metadata key \"llama.new\\u000aline\", expected a name of printable ASCII");
}

TEST(HostileGguf, ArchitectureNames) {
  const auto named = [](const std::string& name) {
    std::string out = "GGUF" + value(std::uint32_t{3}, std::uint64_t{0}, std::uint64_t{1});
    append_string(out, "general.architecture");
    append<std::uint32_t>(out, 8);
    append_string(out, name);
    return out;
  };
  expect_clean(status_of(named("")), "bad.gguf");
  expect_clean(status_of(named(std::string(100000, 'a'))), "bad.gguf");
  expect_error(named("a\nb"), "general.architecture: \"a\\u000ab\", expected printable ASCII");
  expect_error(named("clip"), "general.architecture: \"clip\", a projector whose rope is not in the metadata");
  expect_error("GGUF" + value(std::uint32_t{3}, std::uint64_t{0}, std::uint64_t{0}),
               "general.architecture: missing, expected the name of an architecture");
}

TEST(HostileGguf, Alignment) {
  for (const std::uint32_t alignment : {0u, 3u, 48u, 0x80000000u, 0xffffffffu}) {
    SCOPED_TRACE(alignment);
    const Status status = status_of(base().u32("general.alignment", alignment).bytes());
    expect_clean(status, "bad.gguf");
    EXPECT_NE(status.message().find("general.alignment"), std::string::npos);
  }
  expect_clean(status_of(base().text("general.alignment", "x").bytes()), "bad.gguf");
}

TEST(HostileGguf, TensorDescriptions) {
  const auto info = [](const std::string& bytes) { return base().tensor_info("rope_freqs.weight", bytes).bytes(); };
  const auto one = [&](std::uint64_t count, std::uint32_t type, std::uint64_t offset) {
    return info(value(std::uint32_t{1}, count, type, offset));
  };
  expect_error(info(value(std::uint32_t{5}) + std::string(64, '\0')),
               "the description of tensor number 0: 5 dimensions, expected at most 4");
  expect_error(info(value(std::uint32_t{2}, kHuge, kHuge, std::uint32_t{0}, std::uint64_t{0})),
               "the description of tensor number 0: more than 2^63 elements");
  expect_error(one(32, 0, 7), "the description of tensor number 0: offset 7, expected a multiple of the alignment 32");
  expect_error(one(32, 0, 0), "tensor rope_freqs.weight: 128 bytes at offset 0 lie past the end of the file");
  expect_error(one(32, 0, kHuge),
               "tensor rope_freqs.weight: 128 bytes at offset 9223372036854775808 lie past the end of the file");
  expect_error(one(kHuge, 0, 0), "tensor rope_freqs.weight: 9223372036854775808 elements, expected 1 to 4096");
  expect_error(one(0, 0, 0), "tensor rope_freqs.weight: 0 elements, expected 1 to 4096");
  expect_error(one(32, 999, 0), "tensor rope_freqs.weight: type 999, expected 0 (F32), 1 (F16) or 30 (BF16)");
  // Names without end, dimensions of zero and scalars.
  std::string endless = "GGUF" + value(std::uint32_t{3}, std::uint64_t{1}, std::uint64_t{0}, kHuge);
  expect_clean(status_of(endless + std::string(100, 'x')), "bad.gguf");
  expect_clean(status_of(info(value(std::uint32_t{0}, std::uint32_t{0}, std::uint64_t{0}))), "bad.gguf");
}

TEST(HostileGguf, TensorsTwiceOrOverlapping) {
  const std::vector<float> ones(32, 1);
  expect_error(base().tensor("rope_freqs.weight", ones).tensor("rope_freqs.weight", ones).bytes(),
               "tensor rope_freqs.weight appears twice, expected once");
  const auto at = [](std::uint64_t offset) {
    return value(std::uint32_t{1}, std::uint64_t{32}, std::uint32_t{0}, offset);
  };
  std::string file =
      base().tensor_info("rope_factors_long.weight", at(0)).tensor_info("rope_factors_short.weight", at(64)).bytes() +
      std::string(192, '\0');
  expect_error(file, "tensors rope_factors_long.weight and rope_factors_short.weight overlap at offset 64");
}

TEST(HostileGguf, ValuesThatNoRopeHas) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float number : {nan, infinity, -infinity, 0.0f, -1.0f, 1e38f}) {
    SCOPED_TRACE(number);
    for (const char* key : {"rope.scaling.factor", "rope.scaling.attn_factor"}) {
      const Result<ModelRopes> model =
          read_model_gguf(base().text("rope.scaling.type", "yarn").f32(key, number).bytes(), "bad.gguf");
      if (!model.ok()) expect_clean(model.status(), "bad.gguf");
    }
    const Status status = status_of(base().tensor("rope_freqs.weight", std::vector<float>(32, number)).bytes());
    if (!status.ok()) expect_clean(status, "bad.gguf");
  }
  for (const std::uint32_t number : {0u, 1u, 3u, 0x7fffffffu, 0xffffffffu}) {
    SCOPED_TRACE(number);
    for (const char* key : {"rope.dimension_count", "attention.key_length", "rope.scaling.original_context_length"}) {
      const Result<ModelRopes> model = read_model_gguf(
          gguf_model("qwen2", 2, 256, 4, 4096).text("rope.scaling.type", "yarn").u32(key, number).bytes(), "bad.gguf");
      if (!model.ok()) expect_clean(model.status(), "bad.gguf");
    }
  }
  for (const auto& sections : std::vector<std::vector<int>>{
           {}, {1}, {0, 0, 0, 0}, {-1, 33}, {1 << 30, 1 << 30}, {8, 8, 8, 8, 8}, {16, 8, 8, 0}}) {
    const Result<ModelRopes> model = read_model_gguf(
        gguf_model("qwen2vl", 2, 256, 4, 4096).ints("rope.dimension_sections", sections).bytes(), "bad.gguf");
    if (!model.ok()) expect_clean(model.status(), "bad.gguf");
    EXPECT_EQ(model.ok(), sections == std::vector<int>({16, 8, 8, 0}));
  }
}

// Lists shorter than the model, longer than it, and of the wrong kind.
TEST(HostileGguf, ListsByLayer) {
  const auto pattern = [](const std::vector<int>& list) {
    return gguf_model("gemma4", 6, 256, 4, 4096).flags("attention.sliding_window_pattern", list).bytes();
  };
  expect_clean(status_of(pattern({1, 1, 1})), "bad.gguf");
  EXPECT_TRUE(read_model_gguf(pattern({1, 1, 1, 1, 1, 0, 1, 1}), "bad.gguf").ok());
  expect_clean(status_of(gguf_model("gemma4", 6, 256, 4, 4096).text("attention.sliding_window_pattern", "yes").bytes()),
               "bad.gguf");
  expect_clean(status_of(gguf_model("lfm2", 3, 256, 4, 4096).floats("attention.head_count_kv", {0, 0.5f, 8}).bytes()),
               "bad.gguf");
}

}  // namespace
}  // namespace ropecache
