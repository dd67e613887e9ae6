// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <gtest/gtest.h>

#include "table.h"

namespace ropecache::cli {
namespace {

TEST(Text, Ranges) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({3}), "3");
  EXPECT_EQ(ranges({0, 1, 2, 4, 6, 7}), "0-2,4,6-7");
}

TEST(Text, Bytes) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1024), "1.0 KiB");
  EXPECT_EQ(bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytes(std::int64_t{5} << 30), "5.0 GiB");
}

TEST(Text, ShortestDecimals) {
  EXPECT_EQ(shortest(10000.0), "10000");
  EXPECT_EQ(shortest(1e6), "1000000");
  EXPECT_EQ(shortest(1.2079441541679836), "1.2079441541679836");
  EXPECT_EQ(shortest(0.0), "0");
  EXPECT_EQ(shortest(-2.5), "-2.5");
  EXPECT_EQ(shortest(1e30), "1e+30");
  EXPECT_EQ(shortest(0.1f), "0.1");
}

TEST(Text, ControlBytesArePrintedAsQuestionMarks) { EXPECT_EQ(printable("a\x1b[1m\nb\x7f"), "a?[1m?b?"); }

TEST(TextTable, AlignsAndDropsEmptyColumns) {
  TextTable table({"name", "nothing", "n"});
  table.row({"a", "", "1"});
  table.row({"longer", "", "22"});
  EXPECT_EQ(table.text({}), "  name    n\n  a       1\n  longer  22\n");
}

TEST(TextTable, AFileCannotBreakALine) {
  TextTable table({"x"});
  table.row({"one\ntwo"});
  EXPECT_EQ(table.text({}, 0), "x\none?two\n");
}

TEST(Style, PlainUnlessAskedFor) {
  EXPECT_EQ(Style{}.bold("x"), "x");
  EXPECT_EQ(Style{true}.bold("x"), "\x1b[1mx\x1b[0m");
}

}  // namespace
}  // namespace ropecache::cli
