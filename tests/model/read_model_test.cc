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
  EXPECT_TRUE(has_warning(*alone, "part 2 of 3 is not at hand"));

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

TEST(ReadModelBytes, SplitWithoutFiles) {
  const Result<ModelRopes> model = read_model_gguf(part(0, 2).bytes(), "first");
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(has_warning(*model, "part 2 of 2 is not at hand"));
  EXPECT_EQ(read_model_gguf(part(1, 2).bytes(), "second").status().message(),
            "second: split.no: 1, expected part 0 of 2, which holds the metadata");
  // Counts that no split has.
  EXPECT_TRUE(read_model_gguf(llama().u32("split.count", 0xffffffff).bytes(), "odd").ok());
  EXPECT_TRUE(read_model_gguf(llama().text("split.no", "one").bytes(), "odd").ok());
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
