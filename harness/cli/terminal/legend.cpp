#include "harness/cli/terminal/legend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/printable.hpp"
#include "harness/results/measured_roofs.hpp"
#include "roofline/units.hpp"

namespace ridgebench {
namespace {

constexpr int kUncut = 1 << 20;
constexpr int kIndent = 3;  // "a  "
constexpr int kBetweenCells = 2;
constexpr int kFewestCells = 4;
constexpr int kMostOfFormat = 17;  // fp8_e4m3xfp8_e5m2
constexpr std::string_view kLegendHead = "roof";
constexpr std::string_view kRaisedText = "raised its roof";
const std::string kDoubtMark = "~";  // as in figures

// The cells of a line.
struct LegendCells {
  std::string name, format, rate, share;
  bool raised = false;
};

// A share within the margin of the roof counts as 1. A file may hold one of any size.
std::string share_text(double share) {
  if (share <= 1 + kRoofMargin) share = std::min(share, 1.0);
  return share < 10 ? fmt::format("{:.0f} %", 100 * share) : ">1000 %";
}

LegendCells cells_of(const RooflinePoint& point) {
  const auto& share = point.share_of_roof;
  return {.name = fitted_text(point.name, kUncut),
          .format = fitted_text(point.format_name, kMostOfFormat),
          .rate = with_unit(point.flops_per_s, "FLOP/s"),
          .share = share ? (point.doubted ? kDoubtMark : "") + share_text(*share) : "-",
          .raised = point.raised_its_roof};
}

// The widths of the columns that hold them.
struct Columns {
  int name = 0, format = 0, rate = 0, share = static_cast<int>(kLegendHead.size());

  bool marks = false;  // a share has a mark, for which the others leave room

  explicit Columns(const RooflinePicture& picture) {
    const auto widen = [](int& width, const std::string& cell) {
      width = std::max(width, static_cast<int>(cell.size()));
    };
    for (const RooflinePoint& point : picture.points) {
      const LegendCells cells = cells_of(point);
      widen(name, cells.name);
      widen(format, cells.format);
      widen(rate, cells.rate);
      widen(share, cells.share);
      marks = marks || cells.raised;
    }
  }
  // Cuts the name or, where it has a line of its own, the format.
  void fit(int width, bool one_line) {
    int& longest = one_line ? name : format;
    const int all = kIndent + detail() + (one_line ? name + kBetweenCells : 0);
    longest = std::max(std::min(longest, longest - (all - width)), kFewestCells);
  }
  // Text after the name.
  [[nodiscard]] int detail() const {
    return format + kBetweenCells + rate + kBetweenCells + share + (marks ? 1 : 0);
  }
};

std::string detail_text(const LegendCells& cells, const Columns& columns) {
  std::string text =
      fmt::format("{:<{}}  {:>{}}  {:>{}}", fitted_text(cells.format, columns.format),
                  columns.format, cells.rate, columns.rate, cells.share, columns.share);
  if (columns.marks) text += cells.raised ? kRaised.ascii : ' ';
  return text;
}

std::vector<std::string> extra_lines(const RooflinePicture& picture) {
  std::vector<std::string> texts;
  if (std::ranges::any_of(picture.points, &RooflinePoint::raised_its_roof)) {
    texts.push_back(fmt::format("{} {}", kRaised.ascii, kRaisedText));
  }
  if (std::ranges::any_of(picture.points, &RooflinePoint::doubted)) {
    texts.push_back(kDoubtMark + " the roof moved during the run");
  }
  if (!picture.dots.empty()) {
    texts.push_back("dots: " + counted(picture.dots.size(), "other row"));
  }
  if (picture.without_intensity > 0) {
    texts.push_back(counted(picture.without_intensity, "row") + " without FLOPs");
  }
  return texts;
}

int width_of(const RooflinePicture& picture, int of_points) {
  int width = picture.points.empty() ? 0 : kIndent + of_points;
  for (const std::string& note : extra_lines(picture)) {
    width = std::max(width, static_cast<int>(note.size()));
  }
  return width;
}

}  // namespace

char letter_of(std::size_t point) { return static_cast<char>('a' + point); }

int width_in_one_line(const RooflinePicture& picture) {
  const Columns columns(picture);
  return width_of(picture, columns.name + kBetweenCells + columns.detail());
}

int width_in_two_lines(const RooflinePicture& picture) {
  const Columns columns(picture);
  return width_of(picture, std::max(columns.name, columns.detail()));
}

std::vector<LegendLine> legend_lines(const RooflinePicture& picture, bool one_line, int width) {
  std::vector<LegendLine> lines;
  Columns columns(picture);
  columns.fit(width, one_line);
  const auto add = [&](const std::string& text, Hue hue = Hue::plain) {
    LegendLine& line = lines.emplace_back(LegendLine{fitted_text(text, width), hue});
    const bool uncut = line.text == text;
    if (uncut && text.ends_with(kRaised.ascii)) line.mark = text.size() - 1;
    if (uncut && text.starts_with(kRaised.ascii)) line.mark = 0;
  };
  const int before = one_line ? columns.name + kBetweenCells : 0;
  if (!picture.points.empty()) {
    add(fmt::format("{:>{}}", kLegendHead, kIndent + before + columns.detail()));
  }
  for (std::size_t i = 0; i < picture.points.size(); ++i) {
    const RooflinePoint& point = picture.points[i];
    const LegendCells cells = cells_of(point);
    const std::string detail = detail_text(cells, columns);
    const std::string name = fmt::format(
        "{}  {}", letter_of(i), fitted_text(cells.name, one_line ? columns.name : width - kIndent));
    if (one_line) {
      add(fmt::format("{:<{}}{}", name, kIndent + before, detail), hue_of(point.format));
    } else {
      add(name, hue_of(point.format));
      add(fmt::format("{:{}}{}", "", kIndent, detail));
    }
  }
  for (const std::string& note : extra_lines(picture)) add(note);
  return lines;
}

std::string fitted_text(std::string_view text, int width) {
  constexpr std::string_view dots = "...";
  std::string shown;
  for (const char c : printable(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) shown += c;
    if (byte >= 0xc0) shown += '?';  // the first byte of a longer character
  }
  const auto most = static_cast<std::size_t>(std::max(width, 0));
  if (shown.size() <= most) return shown;
  if (most <= dots.size()) return shown.substr(0, most);
  return shown.substr(0, most - dots.size()).append(dots);
}

}  // namespace ridgebench
