// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "text.h"

namespace ropecache::cli {
namespace {

constexpr double kWidth = 860;
constexpr double kLeft = 250;   // bars: room for names
constexpr double kRight = 640;  // bars end here, labels follow
constexpr double kBarStep = 18;
constexpr double kPlotLeft = 80;
constexpr double kPlotRight = 620;
constexpr double kPlotHeight = 220;

// Okabe and Ito's colours, told apart with any colour vision; dashes tell them apart in print.
constexpr std::array<const char*, 6> kDashes = {"", "6 3", "2 3", "8 3 2 3", "12 4", "4 2"};

constexpr const char* kStyle = R"(<style>
svg { background: #ffffff; font: 12px system-ui, sans-serif; }
text { fill: #1a1a1a; } .dim { fill: #555555; } .grid { stroke: #dddddd; } .axis { stroke: #777777; } .mark { stroke: #d55e00; }
.s0 { stroke: #0072b2; fill: #0072b2; } .s1 { stroke: #d55e00; fill: #d55e00; } .s2 { stroke: #009e73; fill: #009e73; }
.s3 { stroke: #cc79a7; fill: #cc79a7; } .s4 { stroke: #b58900; fill: #b58900; } .s5 { stroke: #56b4e9; fill: #56b4e9; }
.b0 { fill: #0072b2; opacity: 0.10; } .b1 { fill: #d55e00; opacity: 0.14; } .b2 { fill: #009e73; opacity: 0.12; }
.line { fill: none; stroke-width: 2; } .bar { stroke: none; }
@media screen and (prefers-color-scheme: dark) {
svg { background: #121212; } text { fill: #eeeeee; } .dim { fill: #aaaaaa; } .grid { stroke: #333333; } .axis { stroke: #888888; }
.s0 { stroke: #56b4e9; fill: #56b4e9; } .s5 { stroke: #9ad1f5; fill: #9ad1f5; }
}
</style>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return out;
}

std::string words(double x, double y, const char* attributes, const std::string& text) {
  if (text.empty()) return "";
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(text));
}

double draw_bars(const BarPanel& panel, double top, std::string& out) {
  out += words(20, top + 18, "font-weight=\"bold\"", panel.title);
  double most = panel.line;
  for (const Bar& bar : panel.bars) most = std::max(most, bar.value);
  const double scale = most > 0 ? (kRight - kLeft) / most : 0;
  double y = top + 30;
  for (const Bar& bar : panel.bars) {
    out += words(kLeft - 8, y + 12, "text-anchor=\"end\"", bar.name);
    out += fmt::format("<rect class=\"s0 bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"13\"><title>{}: {}</title></rect>\n",
                       kLeft, y, bar.value * scale, escaped(bar.name), escaped(bar.label));
    out += words(kLeft + bar.value * scale + 6, y + 12, "class=\"dim\"", bar.label);
    y += kBarStep;
  }
  if (panel.line > 0) {
    const double x = kLeft + panel.line * scale;
    out += fmt::format("<line class=\"mark\" stroke-dasharray=\"4 3\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", x,
                       top + 26, y);
    out += words(x, y + 12, "class=\"dim\" text-anchor=\"middle\"", panel.line_name);
    y += 16;
  }
  return y + 14;
}

// Powers of ten, or of two where those are few or the values are such.
std::vector<double> ticks(double low, double high, bool binary) {
  const double base = binary || high / low < 1000 ? 2 : 10;
  std::vector<double> out;
  for (double e = std::floor(std::log(low) / std::log(base)); e <= std::ceil(std::log(high) / std::log(base)); ++e) {
    out.push_back(std::pow(base, e));
  }
  // Too many: each second one, and room at the end for what lies beyond the last.
  while (out.size() > 9) {
    if (out.size() % 2 == 0) out.push_back(out.back() * base);
    std::vector<double> half;
    for (std::size_t i = 0; i < out.size(); i += 2) half.push_back(out[i]);
    out = half;
  }
  return out;
}

std::string tick_label(double value) {
  const double mi = 1024 * 1024;
  if (value >= mi && std::fmod(value, mi) == 0) return fmt::format("{:.0f} Mi", value / mi);
  if (value >= 1024 && std::fmod(value, 1024) == 0) return fmt::format("{:.0f} Ki", value / 1024);
  return fmt::format("{:.3g}", value);
}

std::vector<double> linear_ticks(double low, double high) {
  const double step = std::pow(2, std::ceil(std::log2(std::max(1.0, (high - low) / 9))));
  std::vector<double> out;
  for (double x = std::floor(low / step) * step; x < high + step; x += step) out.push_back(x);
  return out;
}

// Where values stand between the first and the last tick, 0 to 1.
struct Scale {
  std::vector<double> ticks;
  bool linear = false;
  double of(double value) const {
    const double low = ticks.front();
    const double high = ticks.back();
    if (linear) return high > low ? (value - low) / (high - low) : 0;
    return high > low ? std::log(value / low) / std::log(high / low) : 0;
  }
};

double draw_lines(const Panel& panel, double top, std::string& out) {
  double x_low = 1e300, x_high = 0, y_low = 1e300, y_high = 0;
  bool binary = true;
  for (const Series& series : panel.series) {
    for (const double x : series.x) {
      x_low = std::min(x_low, x), x_high = std::max(x_high, x);
      binary &= std::fmod(std::log2(x), 1) == 0;
    }
    for (const double y : series.y) y_low = std::min(y_low, y), y_high = std::max(y_high, y);
  }
  for (const Level& level : panel.levels) y_low = std::min(y_low, level.y), y_high = std::max(y_high, level.y);
  out += words(20, top + 18, "font-weight=\"bold\"", panel.title);
  if (y_high <= 0) return top + 40;
  const Scale x_scale{panel.x_linear ? linear_ticks(x_low, x_high) : ticks(x_low, std::max(x_high, x_low * 1.01), binary), panel.x_linear};
  const Scale y_scale{ticks(y_low, std::max(y_high, y_low * 1.01), panel.y_bytes)};
  const double plot_top = top + 50;
  const auto px = [&](double x) { return kPlotLeft + std::clamp(x_scale.of(x), 0.0, 1.0) * (kPlotRight - kPlotLeft); };
  const auto py = [&](double y) { return plot_top + (1 - std::clamp(y_scale.of(y), 0.0, 1.0)) * kPlotHeight; };
  for (std::size_t i = 0; i < panel.bands.size(); ++i) {
    const Band& band = panel.bands[i];
    out += fmt::format("<rect class=\"b{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}</title></rect>\n", i % 3,
                       px(band.from), plot_top, std::max(0.0, px(band.to) - px(band.from)), kPlotHeight, escaped(band.name));
    out += words((px(band.from) + px(band.to)) / 2, plot_top + (i % 2 == 0 ? 12 : 26), "class=\"dim\" text-anchor=\"middle\"", band.name);
  }
  for (const double x : x_scale.ticks) {
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", px(x), plot_top,
                       plot_top + kPlotHeight);
    out += words(px(x), plot_top + kPlotHeight + 16, "class=\"dim\" text-anchor=\"middle\"", tick_label(x));
  }
  for (const double y : y_scale.ticks) {
    out += fmt::format("<line class=\"grid\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n", py(y), kPlotLeft, kPlotRight);
    out += words(kPlotLeft - 6, py(y) + 4, "class=\"dim\" text-anchor=\"end\"",
                 panel.y_bytes ? bytes(static_cast<std::int64_t>(y)) : fmt::format("{:.3g}", y));
  }
  for (const Level& level : panel.levels) {
    out += fmt::format("<line class=\"mark\" stroke-dasharray=\"4 3\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n",
                       py(level.y), kPlotLeft, kPlotRight);
    out += words(kPlotLeft + 6, py(level.y) - 4, "class=\"dim\"", level.name);
  }
  out += words((kPlotLeft + kPlotRight) / 2, plot_top + kPlotHeight + 34, "text-anchor=\"middle\"", panel.x_title);
  out += words(20, top + 36, "class=\"dim\"", panel.y_title);
  double legend = plot_top + 12;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const std::size_t style = i % kDashes.size();
    std::string points;
    for (std::size_t n = 0; n < series.x.size(); ++n) points += fmt::format("{:.1f},{:.1f} ", px(series.x[n]), py(series.y[n]));
    out += fmt::format("<polyline class=\"s{} line\" stroke-dasharray=\"{}\" points=\"{}\"/>\n", style, kDashes[style], points);
    for (std::size_t n = 0; n < series.x.size(); ++n) {
      out += fmt::format("<circle class=\"s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"><title>{}: {:.10g}, {:.10g}</title></circle>\n", style,
                         px(series.x[n]), py(series.y[n]), escaped(series.name), series.x[n], series.y[n]);
    }
    out += fmt::format("<line class=\"s{0} line\" stroke-dasharray=\"{1}\" x1=\"{2}\" x2=\"{3}\" y1=\"{4:.1f}\" y2=\"{4:.1f}\"/>\n", style,
                       kDashes[style], kPlotRight + 12, kPlotRight + 40, legend);
    out += words(kPlotRight + 46, legend + 4, "", series.name);
    legend += 18;
  }
  return std::max(plot_top + kPlotHeight + 50, legend + 20);
}

}  // namespace

std::string svg(const std::string& title, const std::vector<BarPanel>& bars, const std::vector<Panel>& panels) {
  std::string body;
  double y = 44;
  for (const BarPanel& panel : bars) y = draw_bars(panel, y, body);
  for (const Panel& panel : panels) y = draw_lines(panel, y, body);
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n"
                     "<title>{2}</title>\n{3}{4}{5}</svg>\n",
                     kWidth, y + 10, escaped(title), kStyle, words(20, 28, "font-size=\"16\" font-weight=\"bold\"", title), body);
}

}  // namespace ropecache::cli
