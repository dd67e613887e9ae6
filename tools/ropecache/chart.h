// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts as one self-contained SVG: no script, no outside reference, light and dark by the reader's preference, light in
// print. Equal input gives equal bytes.
#pragma once

#include <string>
#include <vector>

namespace ropecache::cli {

struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

// A shaded part of the x axis, and a horizontal line, each with its name.
struct Band {
  double from = 0;
  double to = 0;
  std::string name;
};
struct Level {
  double y = 0;
  std::string name;
};

// Lines; the y axis is logarithmic, values above 0.
struct Panel {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<Series> series;
  bool x_linear = false;  // else logarithmic, values above 0
  bool y_bytes = false;   // powers of two, as MiB and GiB
  std::vector<Band> bands{};
  std::vector<Level> levels{};
};

struct Bar {
  std::string name;
  double value = 0;
  std::string label;
};

struct BarPanel {
  std::string title;
  double line = 0;  // a mark at this value, with its name; 0: none
  std::string line_name;
  std::vector<Bar> bars;
};

std::string svg(const std::string& title, const std::vector<BarPanel>& bars, const std::vector<Panel>& panels);

}  // namespace ropecache::cli
