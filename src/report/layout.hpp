// SPDX-License-Identifier: GPL-2.0-or-later
// Text that fits a mail: lines, wrapped lists and aligned tables, never wider than 80 columns.
// Input: escaped strings. Output: lines. A table that is too wide first narrows its gaps, then its
// flexible column, then drops its optional columns; whatever is still too wide is cut with "~".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blktag::report {

inline constexpr size_t page_columns = 80;

class Page {
  public:
    void line(std::string_view text = {});
    // "label     text, continued below itself where it is too long". Breaks at spaces only.
    void item(std::string_view label, std::string_view text, size_t indent, size_t label_columns);
    // An empty line, but never two in a row nor one at the start.
    void gap();
    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
    bool after_gap_ = true;
};

struct Column {
    std::string title;
    bool right = true;     // numbers stand right-aligned
    bool flexible = false; // may be cut when there is no room
    int optional = 0;      // > 0: dropped when there is no room, highest first
};

class Table {
  public:
    Table(size_t indent, std::vector<Column> columns)
        : indent_(indent), columns_(std::move(columns))
    {}
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    [[nodiscard]] size_t rows() const { return rows_.size(); }
    void print(Page &page);

  private:
    [[nodiscard]] std::vector<size_t> widths() const;
    void drop(size_t column);
    void fit(std::vector<size_t> &width, size_t &gap);

    size_t indent_;
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// Values as the reports show them: "-" where nothing measured it.
std::string count_text(std::optional<uint64_t> value);
std::string duration_text(std::optional<uint64_t> value_ns);
std::string duration_text(std::optional<double> value_ns);
std::string mean_text(double value); // one decimal; below 1 two significant digits
std::string percent_text(uint64_t part, uint64_t whole); // "1.2 %", "-" of nothing
std::string size_text(uint64_t bytes);                   // "4.0 KiB"
std::string rate_text(double bytes_per_s);               // "48.2 MB/s"
std::string join(const std::vector<std::string> &parts, std::string_view between = ", ");

} // namespace blktag::report
