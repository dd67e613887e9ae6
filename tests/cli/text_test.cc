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

TEST(Text, WhatActsOnATerminalIsSpelledOut) {
  EXPECT_EQ(printable("a\x1b[1m\nb\x7f"), "a\\x1b[1m\\x0ab\\x7f");
  EXPECT_EQ(printable("\xc2\x9b" "31m"), "\\u009b31m");          // CSI as one C1 control
  EXPECT_EQ(printable("a\xe2\x80\xae" "b"), "a\\u202eb");        // right-to-left override
  EXPECT_EQ(printable("\xe2\x81\xa6\xef\xbb\xbf"), "\\u2066\\ufeff");
  EXPECT_EQ(printable("\xf3\xa0\x81\x81"), "\\ue0041");         // a tag
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Text, ValidUtf8StaysAsItIs) {
  for (const char* text : {"Modell-\xc3\xa4", "\xe6\xa8\xa1\xe5\x9e\x8b", "\xf0\x9f\x90\x8d", "a\\b"}) {
    EXPECT_EQ(printable(text), text);
  }
  EXPECT_EQ(columns("Modell-\xc3\xa4"), 8u);
}

TEST(Text, BytesThatAreNotUtf8AreSpelledOut) {
  EXPECT_EQ(printable("\xff" "a\xc3"), "\\xffa\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");               // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");     // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe6\xa8"), "\\xe6\\xa8");               // cut short
}

TEST(Text, LongTextLosesItsMiddle) {
  EXPECT_EQ(printable("0123456789abcdefghij", 20), "0123456789abcdefghij");
  EXPECT_EQ(printable("0123456789abcdefghijk", 20), "0123456789a...fghijk");
  for (std::size_t most = 16; most < 40; ++most) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "\xf0\x9f\x90\x8d";
    const std::string cut = printable(text, most);
    EXPECT_LE(cut.size(), most);
    EXPECT_EQ(cut.find('\\'), std::string::npos) << cut;  // no character is cut in two
    EXPECT_NE(cut.find("..."), std::string::npos);
  }
  EXPECT_LE(printable(std::string(1 << 20, '\x01')).size(), kMaxLine);
}

TEST(TextTable, AlignsAndDropsEmptyColumns) {
  TextTable table({"name", "nothing", "n"});
  table.row({"a", "", "1"});
  table.row({"longer", "", "22"});
  EXPECT_EQ(table.text({}), "  name    n\n  a       1\n  longer  22\n");
}

TEST(TextTable, AFileCannotBreakALine) {
  TextTable table({"x"});
  table.row({"one\ntwo"});
  EXPECT_EQ(table.text({}, 0), "x\none\\x0atwo\n");
}

TEST(TextTable, AlignsByCharacters) {
  TextTable table({"name", "n"});
  table.row({"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6", "1"});
  table.row({"plain", "22"});
  EXPECT_EQ(table.text({}, 0), "name   n\n\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6  1\nplain  22\n");
}

TEST(Style, PlainUnlessAskedFor) {
  EXPECT_EQ(Style{}.bold("x"), "x");
  EXPECT_EQ(Style{true}.bold("x"), "\x1b[1mx\x1b[0m");
}

}  // namespace
}  // namespace ropecache::cli
