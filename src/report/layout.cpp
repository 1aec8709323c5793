// SPDX-License-Identifier: GPL-2.0-or-later
// Lines, lists and tables of at most 80 columns. Input and output: see layout.hpp.
#include "report/layout.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace blktag::report {

namespace {

// Cut to a width; the text is escaped already, so cutting must not escape again.
std::string cut(std::string_view text, size_t columns)
{
    if (base::display_width(text) <= columns)
        return std::string(text);
    std::string out(text);
    while (!out.empty() && base::display_width(out) + 1 > columns) {
        do
            out.pop_back();
        while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80);
        // A lead byte that lost its followers goes with them.
        if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0)
            out.pop_back();
    }
    return columns == 0 ? std::string() : out + "~";
}

// A number and its unit stay on one line.
bool belongs_to_number(std::string_view before, std::string_view word)
{
    static constexpr std::string_view units[] = {"ns",  "us",  "ms",  "s",   "%",    "B",
                                                 "KiB", "MiB", "GiB", "TiB", "MB/s", "IOPS"};
    word = word.substr(0, word.find_last_not_of(",;:)") + 1);
    return !before.empty() && before.back() >= '0' && before.back() <= '9' &&
           std::find(std::begin(units), std::end(units), word) != std::end(units);
}

std::vector<std::string_view> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const size_t space = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, space);
        if (!words.empty() && belongs_to_number(words.back(), word) &&
            words.back().data() + words.back().size() + 1 == word.data())
            words.back() =
                std::string_view(words.back().data(), words.back().size() + 1 + word.size());
        else if (space != 0)
            words.push_back(word);
        text.remove_prefix(std::min(space + 1, text.size()));
    }
    return words;
}

} // namespace

void Page::line(std::string_view text)
{
    std::string out = cut(text, page_columns);
    out.erase(out.find_last_not_of(' ') + 1);
    text_ += out;
    text_ += '\n';
    after_gap_ = out.empty();
}

void Page::gap()
{
    if (!after_gap_)
        line();
}

void Page::item(std::string_view label, std::string_view text, size_t indent, size_t label_columns)
{
    std::string out = std::string(indent, ' ') + base::pad(label, label_columns);
    const size_t left = std::max(base::display_width(out), indent + label_columns);
    bool fresh = true;
    for (const std::string_view word : words_of(text)) {
        if (!fresh && base::display_width(out) + 1 + base::display_width(word) > page_columns) {
            line(out);
            out = std::string(left, ' ');
            fresh = true;
        }
        if (!fresh)
            out += ' ';
        out += word;
        fresh = false;
    }
    line(out);
}

std::vector<size_t> Table::widths() const
{
    std::vector<size_t> width;
    for (size_t c = 0; c < columns_.size(); ++c) {
        size_t widest = base::display_width(columns_[c].title);
        for (const auto &row : rows_)
            widest = std::max(widest, c < row.size() ? base::display_width(row[c]) : 0);
        width.push_back(widest);
    }
    return width;
}

void Table::drop(size_t column)
{
    columns_.erase(columns_.begin() + static_cast<ptrdiff_t>(column));
    for (auto &row : rows_)
        if (column < row.size())
            row.erase(row.begin() + static_cast<ptrdiff_t>(column));
}

void Table::fit(std::vector<size_t> &width, size_t &gap)
{
    const auto total = [&] {
        size_t sum = indent_ + (columns_.empty() ? 0 : gap * (columns_.size() - 1));
        for (const size_t w : width)
            sum += w;
        return sum;
    };
    if (total() > page_columns)
        gap = 1;
    constexpr size_t least_flexible = 12;
    for (size_t c = 0; c < columns_.size() && total() > page_columns; ++c)
        if (columns_[c].flexible && width[c] > least_flexible)
            width[c] -= std::min(total() - page_columns, width[c] - least_flexible);
    while (total() > page_columns) {
        const auto at = std::max_element(
            columns_.begin(), columns_.end(),
            [](const Column &a, const Column &b) { return a.optional < b.optional; });
        if (at == columns_.end() || at->optional == 0)
            return; // Page::line cuts the rest
        const auto column = static_cast<size_t>(at - columns_.begin());
        drop(column);
        width.erase(width.begin() + static_cast<ptrdiff_t>(column));
    }
}

void Table::print(Page &page)
{
    std::vector<size_t> width = widths();
    size_t gap = 2;
    fit(width, gap);
    const auto print_row = [&](const auto &text_of) {
        std::string out(indent_, ' ');
        for (size_t c = 0; c < columns_.size(); ++c) {
            if (c != 0)
                out.append(gap, ' ');
            out += base::pad(cut(text_of(c), width[c]), width[c], columns_[c].right);
        }
        page.line(out);
    };
    if (std::any_of(columns_.begin(), columns_.end(),
                    [](const Column &c) { return !c.title.empty(); }))
        print_row([&](size_t c) { return std::string_view(columns_[c].title); });
    for (const auto &row : rows_)
        print_row([&](size_t c) {
            return c < row.size() ? std::string_view(row[c]) : std::string_view();
        });
}

std::string count_text(std::optional<uint64_t> value)
{
    return value ? fmt::format("{}", *value) : "-";
}

std::string duration_text(std::optional<uint64_t> value_ns)
{
    return value_ns ? base::format_duration(*value_ns) : "-";
}

std::string duration_text(std::optional<double> value_ns)
{
    return value_ns ? base::format_duration(static_cast<uint64_t>(std::llround(*value_ns))) : "-";
}

std::string mean_text(double value)
{
    if (value != 0 && value < 0.95)
        return fmt::format("{:.2g}", value);
    return value < 1000 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string percent_text(uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return "-";
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    if (part != 0 && percent < 0.1)
        return "<0.1 %";
    return fmt::format("{:.1f} %", percent);
}

std::string size_text(uint64_t bytes)
{
    return base::format_bytes(bytes);
}

std::string rate_text(double bytes_per_s)
{
    const double mb = bytes_per_s / 1e6;
    return mb < 10 ? fmt::format("{:.2f} MB/s", mb) : fmt::format("{:.1f} MB/s", mb);
}

std::string join(const std::vector<std::string> &parts, std::string_view between)
{
    return fmt::format("{}", fmt::join(parts, between));
}

} // namespace blktag::report
