// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line: options in, one text out, an exit status.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "commands.h"
#include "ropecache/target.h"
#include "ropecache/version.h"
#include "text.h"

namespace ropecache::cli {
namespace {

int fail(int exit, std::string_view message) {
  const std::string line = "ropecache: " + printable(message) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit;
}

// A reader that went away has read all it wanted; anything else that keeps output back is a failure.
int write_out(const Outcome& outcome) {
  std::string_view rest = outcome.text;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return outcome.exit;
    if (written < 0) return fail(kFailure, std::string("standard output: ") + std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return outcome.exit;
}

int exit_of(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kOutOfRange:
    case StatusCode::kUnsupported:
    case StatusCode::kIo:
    case StatusCode::kParse: return kBadInput;
    default: return kFailure;
  }
}

int finish(const Result<Outcome>& result) {
  if (result.ok()) return write_out(*result);
  const Status& status = result.status();
  const std::string_view name = status_code_name(status.code());
  return fail(exit_of(status.code()), status.message().empty() ? name : status.message());
}

// In the order in which help names and explains them.
template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

const Choices<Profile> kProfiles = {{"exact", Profile::kExact}, {"fp32", Profile::kFp32}, {"ggml", Profile::kGgml}};
const Choices<Kernels> kKernels = {{"own", Kernels::kOwn}, {"all", Kernels::kAll}, {"none", Kernels::kNone}};

Choices<Role> roles() {
  Choices<Role> out;
  for (Role role : {Role::kAttention, Role::kIndexer, Role::kVision, Role::kAudio, Role::kLinearAttention, Role::kDraft}) {
    out.emplace_back(role_name(role), role);
  }
  return out;
}

// One of the names of a map; the error lists them.
template <class Value>
CLI::Option* choice(CLI::App* command, const char* name, const Choices<Value>& names,
                    std::function<void(Value)> set, const std::string& text) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : names) keys.push_back(key);
  const auto take = [&names, set](const std::string& word) {
    for (const auto& [key, value] : names) {
      if (key == word) set(value);
    }
  };
  return command->add_option_function<std::string>(name, take, text)
      ->check(CLI::IsMember(keys))
      ->option_text(CLI::detail::join(keys, "|"));
}

constexpr std::int64_t kMaxLength = kMaxPosition + 1;

void add_length(CLI::App* command, ReadOptions& read) {
  command->add_option("--length", read.length, "sequence length, for rules that depend on it (dynamic, longrope)")
      ->check(CLI::Range(std::int64_t{1}, kMaxLength))
      ->option_text("N");
}

void add_json(CLI::App* command, bool& json) { command->add_flag("--json", json, "for programs; fields are stable"); }

constexpr const char* kFileText = "config.json, a folder that holds one, GGUF (first part, when split) or params.json";

constexpr const char* kCommands = "plan, diff, dump, verify, plot or bench";

// What CLI11 lists last first.
std::string not_expected(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  if (app.get_subcommands().empty() && !rest.empty() && !rest.front().starts_with('-')) {
    return (rest.front().empty() ? "\"\"" : rest.front()) + ": no such command, expected " + kCommands;
  }
  return "not expected: " + CLI::detail::join(rest, " ");
}

// "help" and "help COMMAND" are --help.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.resize(std::min<std::size_t>(words.size(), 1));
    words.emplace_back("--help");
  }
  return words;
}

int run(int argc, char** argv) {
  CLI::App app("ropecache: which rotary position embedding does each layer of a model use, and is it right?");
  app.name("ropecache");
  app.set_version_flag("--version", std::string("ropecache ") + ROPECACHE_VERSION_STRING);
  app.require_subcommand(0, 1);  // none is reported below, after the arguments that are no command
  app.footer("Exit status: 0 done, equal, holds; 1 differs, does not hold; 2 bad input or usage; 3 an internal failure.");

  const auto role_names = roles();
  Choices<std::optional<Role>> role_names_all = {{"all", std::nullopt}};
  role_names_all.insert(role_names_all.end(), role_names.begin(), role_names.end());
  std::function<Result<Outcome>()> command;

  PlanOptions plan_options;
  CLI::App* plan_command = app.add_subcommand("plan", "the rope of each layer, why, and what sharing its table saves");
  plan_command->add_option("FILE", plan_options.file, kFileText)->required()->option_text(" ");
  add_length(plan_command, plan_options.read);
  plan_command->add_option("--context", plan_options.read.context, "positions that memory is counted at")
      ->check(CLI::Range(std::int64_t{1}, kMaxLength))
      ->option_text("N");
  choice<std::optional<Role>>(plan_command, "--role", role_names_all,
                              [&](std::optional<Role> role) { plan_options.role = role; }, "ropes of one role only");
  add_json(plan_command, plan_options.json);
  plan_command->callback([&] { command = [&] { return plan(plan_options); }; });

  DiffOptions diff_options;
  CLI::App* diff_command = app.add_subcommand("diff", "which layers of two models rotate differently, and from where on it shows");
  diff_command->add_option("A", diff_options.a, kFileText)->required()->option_text(" ");
  diff_command->add_option("B", diff_options.b, "the same, in any of the formats")->required()->option_text(" ");
  add_length(diff_command, diff_options.read);
  add_json(diff_command, diff_options.json);
  diff_command->callback([&] { command = [&] { return diff(diff_options); }; });

  DumpOptions dump_options;
  CLI::App* dump_command = app.add_subcommand("dump", "rows of cos and sin, as decimals and as bits");
  dump_command->add_option("FILE", dump_options.file, kFileText)->required()->option_text(" ");
  dump_command->add_option("--layer", dump_options.layer, "which layer's rope")->required()->option_text("L");
  choice<Role>(dump_command, "--role", role_names, [&](Role role) { dump_options.role = role; }, "which of the layer's ropes (attention)");
  auto* which = dump_command->add_option_group("positions");
  which->add_option("--positions", dump_options.positions, "positions and ranges, 4096 rows at most: 0,1,4095-4100,-3--1")->option_text("LIST");
  which->add_option("--axis-positions", dump_options.axis_positions, "one row with an id per axis: t,h,w (repeatable)")
      ->option_text("LIST")
      ->expected(1)
      ->take_all();
  which->require_option(1);
  choice<Profile>(dump_command, "--profile", kProfiles, [&](Profile profile) { dump_options.profile = profile; }, "arithmetic (exact)");
  add_length(dump_command, dump_options.read);
  add_json(dump_command, dump_options.json);
  dump_command->callback([&] { command = [&] { return dump(dump_options); }; });

  VerifyOptions verify_options;
  CLI::App* verify_command = app.add_subcommand("verify", "rows against MPFR, kernels against the definition, here");
  verify_command->add_option("FILE", verify_options.file, kFileText)->required()->option_text(" ");
  verify_command->add_option("--samples", verify_options.samples, "random positions per table (16384)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 28))
      ->option_text("N");
  choice<Profile>(verify_command, "--profile", kProfiles, [&](Profile profile) { verify_options.profile = profile; }, "arithmetic (exact)");
  choice<Kernels>(verify_command, "--kernels", kKernels, [&](Kernels kernels) { verify_options.kernels = kernels; },
                  "kernels for the placements of the file, for every placement, or none: rows only (own)");
  add_length(verify_command, verify_options.read);
  add_json(verify_command, verify_options.json);
  verify_command->callback([&] { command = [&] { return verify(verify_options); }; });

  PlotOptions plot_options;
  CLI::App* plot_command = app.add_subcommand("plot", "wavelengths, where scaling acts, errors and memory, as an SVG");
  plot_command->add_option("FILE", plot_options.file, kFileText)->required()->option_text(" ");
  plot_command->add_option("-o,--out", plot_options.out, "where to (standard output)")->option_text("FILE");
  add_length(plot_command, plot_options.read);
  plot_command->callback([&] { command = [&] { return plot(plot_options); }; });

  BenchOptions bench_options;
  bench_options.threads = std::min(2, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  CLI::App* bench_command = app.add_subcommand("bench", "how fast it is here, against this machine's own limit");
  bench_command->add_option("--section", bench_options.sections, "one part only (repeatable); all of them otherwise")
      ->check(CLI::IsMember({"rows", "rotate", "decode", "growth"}))
      ->option_text("rows|rotate|decode|growth")
      ->expected(1)
      ->take_all();
  bench_command->add_option("--tokens", bench_options.tokens, "rotate so many only (repeatable): 1, 64, 512 and 8192 otherwise")
      ->check(CLI::Range(1, 65536))
      ->option_text("N")
      ->expected(1)
      ->take_all();
  bench_command->add_option("--threads", bench_options.threads, "rotate with 1, 2, 4, ... up to so many threads (2)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  bench_command->add_option("--seconds", bench_options.seconds, "time for each figure (0.05)")
      ->check(CLI::Range(0.0001, 60.0))
      ->option_text("S");
  bench_command->add_option("--target", bench_options.target, "instruction set, of those this machine has")->option_text("NAME");
  bench_command->add_option("--svg", bench_options.svg, "also draw a chart")->option_text("FILE");
  add_json(bench_command, bench_options.json);
  bench_command->callback([&] { command = [&] { return bench(bench_options); }; });

  try {
    std::vector<std::string> words = words_of(argc, argv);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ExtrasError&) {
    return fail(kBadInput, not_expected(app) + " (ropecache --help)");
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    if (app.exit(error, out, err) == 0) return write_out({kHolds, out.str()});  // --help, --version
    return fail(kBadInput, std::string(error.what()) + " (ropecache --help)");
  }
  if (!command) return fail(kBadInput, std::string("expected a command: ") + kCommands + " (ropecache --help)");
  bench_options.style = plan_options.style = diff_options.style = dump_options.style = verify_options.style = Style::of_stdout();
  verify_options.progress = isatty(STDERR_FILENO) == 1;
  return finish(command());
}

}  // namespace
}  // namespace ropecache::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return ropecache::cli::run(argc, argv);
  } catch (const std::exception& error) {
    return ropecache::cli::fail(ropecache::cli::kFailure, error.what());
  }
}
