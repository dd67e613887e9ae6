// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// read_model(): formats told by contents, folders, parts of split files, and things that are not files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/gguf_writer.h"
#include "model/model_test_util.h"
#include "ropecache/model.h"

namespace ropecache {
namespace {

namespace fs = std::filesystem;
using test::expect_clean;
using test::find_note;
using test::gguf_model;
using test::GgufWriter;
using test::has_warning;

constexpr std::string_view kConfig =
    R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "num_hidden_layers": 2,
        "rope_theta": 10000.0, "max_position_embeddings": 4096})";
constexpr std::string_view kParams =
    R"({"dim": 256, "n_layers": 2, "n_heads": 4, "head_dim": 64, "rope_theta": 10000.0})";

GgufWriter llama() { return gguf_model("llama", 2, 256, 4, 4096).f32("rope.freq_base", 10000); }

class ReadModel : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ropecache-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view bytes) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  fs::path folder_;
};

TEST_F(ReadModel, TellsFormatsByContents) {
  const auto format = [&](std::string_view bytes) {
    const Result<ModelRopes> model = read_model(write("anything.txt", bytes));
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model->format;
  };
  EXPECT_EQ(format(kConfig), ModelFormat::kHfConfig);
  EXPECT_EQ(format("\xef\xbb\xbf \n" + std::string(kConfig)), ModelFormat::kHfConfig);
  EXPECT_EQ(format(kParams), ModelFormat::kMistralParams);
  EXPECT_EQ(format(R"({"dim": 256, "n_layers": 2, "n_heads": 4, "rope_theta": 1e4, "multiple_of": 256})"),
            ModelFormat::kMetaParams);
  EXPECT_EQ(format(R"({"model_type": "transformer", "dim": 256, "n_layers": 2, "n_heads": 4, "rope_theta": 1e4})"),
            ModelFormat::kMistralParams);
  EXPECT_EQ(format(llama().bytes()), ModelFormat::kGguf);
}

TEST_F(ReadModel, Folders) {
  write("hf/config.json", kConfig);
  write("hf/params.json", kParams);
  write("mistral/params.json", kParams);
  write("empty/readme", "");
  fs::create_directories(folder_ / "odd" / "config.json");
  const auto read = [&](const char* name) { return read_model((folder_ / name).string()); };
  ASSERT_TRUE(read("hf").ok());
  EXPECT_EQ(read("hf")->format, ModelFormat::kHfConfig);
  EXPECT_EQ(read("hf/")->path, (folder_ / "hf/config.json").string());
  EXPECT_EQ(read("mistral")->format, ModelFormat::kMistralParams);
  for (const char* name : {"empty", "odd", "nothing"}) {
    const Status status = read(name).status();
    EXPECT_EQ(status.code(), StatusCode::kIo);
    expect_clean(status, (folder_ / name).string());
  }
}

TEST_F(ReadModel, OtherThings) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string loop = (folder_ / "loop").string();
  fs::create_symlink("loop", loop);
  for (const std::string& path : {pipe, loop, std::string("/dev/null"), std::string("/dev/zero"), std::string()}) {
    SCOPED_TRACE(path);
    const Status status = read_model(path).status();
    EXPECT_EQ(status.code(), StatusCode::kIo);
    expect_clean(status, path);
  }
  for (const std::string& bytes : {std::string(), std::string("GGU"), std::string("hello"), std::string("[1]"),
                                   std::string(100, '\0'), std::string(100, ' ')}) {
    const std::string path = write("other", bytes);
    const Status status = read_model(path).status();
    EXPECT_EQ(status.code(), StatusCode::kParse);
    expect_clean(status, path);
  }
}

// Names of files are shown as they are where they can be seen; values out of files are cut.
TEST_F(ReadModel, NamesInErrors) {
  const std::string umlaut = write("Modell-\xc3\xa4.json", "[");
  EXPECT_EQ(read_model(umlaut).status().message().substr(0, umlaut.size()), umlaut);
  const std::string params = write("Modell-\xc3\xb6.json", R"({"dim": 256, "n_layers": 2})");
  EXPECT_EQ(read_model(params).status().message().substr(0, params.size()), params);
  for (const char* hidden : {"a\nb", "a\x1b[1mb", "a\xe2\x80\xae" "b", "a\xff" "b", "a\xc2\x9b" "b"}) {
    const std::string message = read_model((folder_ / hidden).string()).status().message();
    for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << message;
    EXPECT_NE(message.find("/a\\"), std::string::npos) << message;
  }
}

TEST(ReadModelJson, LongValuesAreCutInErrorsAndWarnings) {
  const std::string mega(1 << 20, 'm');
  const std::vector<std::string> documents = {
      R"({"model_type": ")" + mega + R"("})",
      R"({"dim": 256, "n_layers": 2, "n_heads": 4, "rope_scaling": ")" + mega + R"("})",
      R"({"model_type": "llama", "rope_theta": ")" + mega + R"("})",
      R"({"model_type": "llama", ")" + mega + R"(": 1, ")" + mega + R"(": 1})",
      R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "num_hidden_layers": 2,
          "rope_scaling": {"rope_type": ")" + mega + R"("}})"};
  for (const std::string& document : documents) {
    expect_clean(read_model_json(document, "long.json").status(), "long.json");
  }
  const Result<ModelRopes> model = read_model_json(
      R"({"dim": 256, "n_layers": 2, "n_heads": 4, "rope_theta": 1e4, "rope_)" + mega + R"(": 1.5})", "long.json");
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->warnings.size(), 1u);
  EXPECT_LT(model->warnings[0].size(), 600u);
  EXPECT_TRUE(model->warnings[0].ends_with("mmm has no effect: not read from params.json"));
}

TEST_F(ReadModel, UnreadableFiles) {
  const std::string path = write("secret.json", kConfig);
  fs::permissions(path, fs::perms::none);
  const uid_t user = geteuid();
  if (user == 0) { ASSERT_EQ(seteuid(65534), 0); }  // root reads everything: be nobody for a moment
  const Status status = read_model(path).status();
  if (user == 0) { ASSERT_EQ(seteuid(user), 0); }
  EXPECT_EQ(status.code(), StatusCode::kIo);
  expect_clean(status, path);
}

// A file of which only the head was fetched still tells its ropes; a hole of gigabytes costs nothing.
TEST_F(ReadModel, LargeFilesAreNotLoaded) {
  const std::string path = write("large.gguf", llama().bytes());
  fs::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_TRUE(read_model(path).ok());
  const std::string json = write("large.json", kConfig);
  fs::resize_file(json, std::uintmax_t{1} << 40);
  const Status status = read_model(json).status();
  EXPECT_EQ(status.code(), StatusCode::kParse);
  expect_clean(status, json);
}

GgufWriter part(int number, int count) {
  return (number == 0 ? llama() : GgufWriter("llama"))
      .u16("split.no", static_cast<std::uint16_t>(number))
      .u16("split.count", static_cast<std::uint16_t>(count));
}

TEST_F(ReadModel, SplitFiles) {
  const std::vector<float> twos(32, 2);
  const std::string first = write("m-00001-of-00003.gguf", part(0, 3).bytes());
  // Without its other parts the first one is read, with a word of warning.
  const Result<ModelRopes> alone = read_model(first);
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  EXPECT_TRUE(has_warning(*alone, "part 2 of 3 and 1 more are not at hand: a rope tensor in them would be missed"));

  // A split may leave all tensors to the later parts.
  write("m-00002-of-00003.gguf", part(1, 3).tensor("a", {1}).bytes());
  const std::string third = write("m-00003-of-00003.gguf", part(2, 3).tensor("rope_freqs.weight", twos).bytes());
  const Result<ModelRopes> all = read_model(first);
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_TRUE(all->warnings.empty());
  EXPECT_EQ(all->ropes.front().config.divisors, std::vector<double>(32, 2));

  const Status later = read_model(third).status();
  EXPECT_EQ(later.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(later.message(), third + ": split.no: 2, expected part 0 of 3, which holds the metadata: " + first);

  write("m-00002-of-00003.gguf", "GGUF");
  expect_clean(read_model(first).status(), (folder_ / "m-00002-of-00003.gguf").string());
}

GgufWriter phi_part(int number, int count) {
  GgufWriter file = number == 0 ? gguf_model("phi3", 2, 256, 4, 131072)
                                      .f32("rope.freq_base", 10000)
                                      .u32("rope.scaling.original_context_length", 4096)
                                      .f32("rope.scaling.attn_factor", 1.19f)
                                : GgufWriter("phi3");
  return file.u16("split.no", static_cast<std::uint16_t>(number)).u16("split.count", static_cast<std::uint16_t>(count));
}

// The two lists of a longrope need not lie in the same part.
TEST_F(ReadModel, RopeTensorsOfAllPartsTogether) {
  const std::vector<float> ones(32, 1), fours(32, 4);
  GgufWriter whole = phi_part(0, 0);
  const Result<ModelRopes> expected = read_model_gguf(
      whole.tensor("rope_factors_long.weight", fours).tensor("rope_factors_short.weight", ones).bytes(), "whole");
  ASSERT_TRUE(expected.ok()) << expected.status().message();

  for (const int where_short : {0, 2}) {
    for (const int where_long : {0, 1}) {
      std::string first;
      for (int number = 2; number >= 0; --number) {
        GgufWriter file = phi_part(number, 3);
        if (number == 0) file.i32("split.tensors.count", 2);
        if (number == where_long) file.tensor("rope_factors_long.weight", fours);
        if (number == where_short) file.tensor("rope_factors_short.weight", ones);
        first = write("p-0000" + std::to_string(number + 1) + "-of-00003.gguf", file.bytes());
      }
      const Result<ModelRopes> model = read_model(first);
      ASSERT_TRUE(model.ok()) << model.status().message();
      EXPECT_TRUE(model->warnings.empty());
      EXPECT_EQ(model->ropes.front().rope, expected->ropes.front().rope);
      EXPECT_EQ(model->ropes.front().beyond, expected->ropes.front().beyond);
      EXPECT_NE(find_note(model->used, "rope_factors_long.weight"), nullptr);
      EXPECT_NE(find_note(model->used, "split.count"), nullptr);
    }
  }
}

TEST_F(ReadModel, PartsThatContradictEachOther) {
  const std::vector<float> twos(32, 2), threes(32, 3);
  const std::string first = write("m-00001-of-00002.gguf", part(0, 2).tensor("rope_freqs.weight", twos).bytes());
  const std::string second = (folder_ / "m-00002-of-00002.gguf").string();
  const auto with = [&](const GgufWriter& file) {
    write("m-00002-of-00002.gguf", file.bytes());
    const Result<ModelRopes> model = read_model(first);
    if (model.ok()) {
      EXPECT_EQ(model->ropes.front().config.divisors, std::vector<double>(32, 2));
      return std::string(model->warnings.empty() ? "ok" : model->warnings.front());
    }
    return model.status().message();
  };
  EXPECT_EQ(with(part(1, 2)), "ok");
  EXPECT_EQ(with(part(1, 2).tensor("rope_freqs.weight", twos)), "ok");
  EXPECT_EQ(with(part(1, 2).tensor("rope_freqs.weight", threes)),
            second + ": tensor rope_freqs.weight: other numbers than in an earlier part, expected it once");
  EXPECT_EQ(with(part(1, 3)), second + ": split.count: 3, expected 2 as in the first part");
  EXPECT_EQ(with(part(0, 2)), second + ": split.no: 0, expected 1 from the file's name");
  EXPECT_EQ(with(GgufWriter("llama")), second + ": split.no: missing, expected 1 from the file's name");
  EXPECT_EQ(with(GgufWriter("llama").text("split.no", "1")),
            second + ": split.no: \"1\", a string, expected an integer from 0 to 99999");
  EXPECT_EQ(with(part(1, 2).f32("rope.freq_base", 10000)), "ok");
  EXPECT_EQ(with(part(1, 2).f32("rope.freq_base", 5e5f)),
            second + ": llama.rope.freq_base: 5e+05, expected 10000 as in the first part");
  EXPECT_EQ(with(part(1, 2).f32("rope.scaling.factor", 4)),
            first + ": llama.rope.scaling.factor has no effect: it is only in part 2");
  EXPECT_EQ(with(GgufWriter("gemma3").u16("split.no", 1).u16("split.count", 2)),
            second + ": general.architecture: \"gemma3\", expected \"llama\" as in the first part");

  const std::string counted =
      write("m-00001-of-00002.gguf",
            part(0, 2).tensor("rope_freqs.weight", twos).i32("split.tensors.count", 3).bytes());
  EXPECT_EQ(with(part(1, 2).tensor("a", {1}).tensor("b", {1})), "ok");
  EXPECT_EQ(with(part(1, 2).tensor("a", {1})),
            counted + ": split.tensors.count: 3, expected 2, as many as the 2 parts hold");
}

// A part that is there and cannot be read is not the same as one that is not there.
TEST_F(ReadModel, PartsThatCannotBeRead) {
  const std::string first = write("m-00001-of-00002.gguf", part(0, 2).bytes());
  const std::string second = (folder_ / "m-00002-of-00002.gguf").string();
  fs::create_symlink("m-00002-of-00002.gguf", second);
  expect_clean(read_model(first).status(), second);
}

TEST(ReadModelBytes, SplitWithoutFiles) {
  const Result<ModelRopes> model = read_model_gguf(part(0, 2).bytes(), "first");
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(has_warning(*model, "part 2 of 2 is not at hand"));
  EXPECT_EQ(read_model_gguf(part(1, 2).bytes(), "second").status().message(),
            "second: split.no: 1, expected part 0 of 2, which holds the metadata");
}

// 0 is what joining the parts again leaves; 1 and no key at all say the same.
TEST(ReadModelBytes, WholeFilesThatWereSplit) {
  for (const std::uint16_t count : {std::uint16_t{0}, std::uint16_t{1}}) {
    const GgufWriter file = llama().u16("split.no", 0).u16("split.count", count).i32("split.tensors.count", 9);
    const Result<ModelRopes> model = read_model_gguf(file.bytes(), "x");
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_TRUE(model->warnings.empty());
  }
  EXPECT_TRUE(read_model_gguf(llama().u32("split.no", 0).bytes(), "x").ok());
}

TEST(ReadModelBytes, SplitKeysOfTheWrongKind) {
  const auto error = [](const GgufWriter& file) { return read_model_gguf(file.bytes(), "x").status().message(); };
  const std::string expected = ", expected an integer from 0 to 99999";
  EXPECT_EQ(error(llama().u32("split.count", 0xffffffff)), "x: split.count: 4294967295, an integer" + expected);
  EXPECT_EQ(error(llama().i32("split.count", -1)), "x: split.count: -1, an integer" + expected);
  EXPECT_EQ(error(llama().f32("split.count", 2)), "x: split.count: 2, a float" + expected);
  EXPECT_EQ(error(llama().text("split.count", "2")), "x: split.count: \"2\", a string" + expected);
  EXPECT_EQ(error(llama().flag("split.count", true)), "x: split.count: true, a boolean" + expected);
  EXPECT_EQ(error(llama().ints("split.count", {2})), "x: split.count: [2], an array" + expected);
  EXPECT_EQ(error(llama().text("split.no", "one")), "x: split.no: \"one\", a string" + expected);
  EXPECT_EQ(error(llama().u16("split.no", 3)), "x: split.no: 3, expected less than split.count, which is missing");
  EXPECT_EQ(error(llama().u16("split.no", 2).u16("split.count", 2)),
            "x: split.no: 2, expected less than split.count, which is 2");
  EXPECT_EQ(error(llama().f64("split.tensors.count", 1)),
            "x: split.tensors.count: 1, a float, expected an integer from 0 to 2147483648");
}

TEST(ReadModelJson, HostileDocuments) {
  const std::string deep = R"({"a": )" + std::string(100000, '[') + std::string(100000, ']') + "}";
  const std::vector<std::string> documents = {"",
                                              "{",
                                              "nonsense",
                                              "[]",
                                              "null",
                                              "3",
                                              deep,
                                              R"({"a": 1, "a": 2})",
                                              R"({"a": {"b": 1, "b": 1}})",
                                              R"({"a": 1e999})",
                                              R"({"a": "\ud800"})",
                                              "{\"a\": \"\xff\xfe\"}",
                                              std::string("{\"a\0b\": 1}", 10),
                                              R"({"model_type": 7})",
                                              R"({"dim": 1, "n_layers": 1e300})",
                                              R"({"dim": -1, "n_layers": -1})",
                                              std::string((std::size_t{16} << 20) + 1, ' ')};
  for (std::size_t i = 0; i < documents.size(); ++i) {
    SCOPED_TRACE(i);
    expect_clean(read_model_json(documents[i], "bad.json").status(), "bad.json");
  }
  EXPECT_EQ(read_model_json(R"({"a": 1, "a": 2})", "bad.json").status().message(),
            "bad.json: key \"a\" appears twice in one object, expected once");
  std::string many = "{\"k\": 0";
  for (int i = 0; i < 100000; ++i) many += ", \"k" + std::to_string(i) + "\": 0";
  EXPECT_EQ(read_model_json(many + "}", "bad.json").status().message(),
            "bad.json: has an object of more than 32768 keys");
  std::string lists = "{\"k\": [";
  for (int i = 0; i < 100000; ++i) lists += "{},";
  EXPECT_EQ(read_model_json(lists + "1]}", "bad.json").status().message(),
            "bad.json: has more than 16384 objects and lists");
}

TEST(ReadModelJson, EveryPrefixOfAConfig) {
  for (const std::string_view document : {kConfig, kParams}) {
    ASSERT_TRUE(read_model_json(document, "x").ok());
    for (std::size_t length = 0; length < document.size(); ++length) {
      expect_clean(read_model_json(document.substr(0, length), "x").status(), "x");
    }
  }
}

TEST(Names, OfRolesAndFormats) {
  for (int n = 0; n < 6; ++n) {
    const auto role = static_cast<Role>(n);
    EXPECT_EQ(role_from_name(role_name(role)), role);
  }
  EXPECT_FALSE(role_from_name("").has_value());
  EXPECT_FALSE(role_from_name("Attention").has_value());
  EXPECT_EQ(role_name(static_cast<Role>(99)), "unknown");
  EXPECT_EQ(model_format_name(ModelFormat::kGguf), "gguf");
  EXPECT_EQ(model_format_name(ModelFormat::kHfConfig), "hf-config");
  EXPECT_EQ(model_format_name(ModelFormat::kMistralParams), "mistral-params");
}

}  // namespace
}  // namespace ropecache
