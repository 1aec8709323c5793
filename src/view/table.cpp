// SPDX-License-Identifier: GPL-2.0-or-later
// Sorting, fitting and drawing tables. Input: Table, TableState. Output: cells.
#include "view/table.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

namespace blktag::view {

namespace {

std::string lower(std::string_view text)
{
    std::string out(text);
    for (char &c : out)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

size_t index_of(const Table &table, std::string_view id)
{
    for (size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].id == id || table.columns[i].header == id)
            return i;
    return SIZE_MAX;
}

// End of the rows below `at`.
size_t end_of(const std::vector<TableRow> &rows, size_t at)
{
    size_t end = at + 1;
    while (end < rows.size() && rows[end].depth > rows[at].depth)
        ++end;
    return end;
}

using Less = std::function<bool(const TableRow &, const TableRow &)>;

// Sorts the rows of one depth from `from` on, each with those below it.
void sort_level(std::vector<TableRow> &rows, size_t from, size_t to, const Less &less)
{
    struct Block {
        size_t from, to;
    };
    std::vector<Block> blocks;
    for (size_t at = from; at < to;) {
        const size_t end = std::min(end_of(rows, at), to);
        if (end > at + 1)
            sort_level(rows, at + 1, end, less);
        blocks.push_back({at, end});
        at = end;
    }
    if (blocks.size() < 2)
        return;
    std::stable_sort(blocks.begin(), blocks.end(), [&](const Block &a, const Block &b) {
        return less(rows[a.from], rows[b.from]);
    });
    std::vector<TableRow> sorted;
    sorted.reserve(to - from);
    for (const Block &block : blocks)
        for (size_t i = block.from; i < block.to; ++i)
            sorted.push_back(std::move(rows[i]));
    std::move(sorted.begin(), sorted.end(), rows.begin() + static_cast<std::ptrdiff_t>(from));
}

void keep_matching(std::vector<TableRow> &rows, std::string_view filter)
{
    std::vector<bool> keep(rows.size(), false);
    for (size_t i = 0; i < rows.size(); ++i) {
        if (!row_matches(rows[i], filter))
            continue;
        for (size_t j = i; j < end_of(rows, i); ++j)
            keep[j] = true;
        int depth = rows[i].depth;
        for (size_t j = i; j-- > 0 && depth > 0;)
            if (rows[j].depth < depth) {
                keep[j] = true;
                depth = rows[j].depth;
            }
    }
    size_t out = 0;
    for (size_t i = 0; i < rows.size(); ++i)
        if (keep[i]) {
            if (out != i)
                rows[out] = std::move(rows[i]);
            ++out;
        }
    rows.resize(out);
}

int first_width(const Table &table, int width)
{
    return std::min(table.columns.empty() ? 0 : table.columns[0].width, width);
}

std::string tree_mark(const TableRow &row, bool ascii)
{
    std::string out(static_cast<size_t>(std::max(row.depth, 0)) * 2, ' ');
    if (row.has_children)
        out += row.open ? (ascii ? "- " : "▾ ") : (ascii ? "+ " : "▸ ");
    else if (row.depth > 0)
        out += ascii ? "` " : "└ ";
    return out;
}

// A text that is too long ends in "~", so that it is not taken for another.
void put_cut(Frame &frame, int x, int y, int width, std::string_view text, Style style)
{
    const bool cut = static_cast<int>(base::display_width(text)) > width;
    const int written = frame.put(x, y, text, style, cut ? width - 1 : width);
    if (cut && width > 0)
        frame.put(x + written, y, "~", style, 1);
}

void draw_header(Frame &frame, Rect area, const Table &table, const TableState &state,
                 const std::vector<size_t> &columns)
{
    frame.fill(area.x, area.y, area.width, U' ', {Role::header, true, false});
    const Column *sorted = sort_column(table, state);
    int x = area.x;
    for (const size_t i : columns) {
        const Column &column = table.columns[i];
        const int width = i == 0 ? first_width(table, area.width) : column.width;
        std::string text = column.header;
        if (&column == sorted)
            text += state.reverse ? (frame.ascii() ? "^" : "▲") : (frame.ascii() ? "v" : "▼");
        const bool chosen = state.in_header && state.column == column.id;
        const Style style{chosen ? Role::mark : Role::header, true, chosen};
        if (column.right)
            frame.put_right(x, area.y, width, text, style);
        else
            frame.put(x, area.y, text, style, width);
        x += width + 1;
    }
}

void draw_row(Frame &frame, Rect line, const Table &table, const TableRow &row,
              const std::vector<size_t> &columns, bool selected, bool found)
{
    int x = line.x;
    for (const size_t i : columns) {
        if (i >= row.cells.size())
            break;
        const Column &column = table.columns[i];
        const int width = i == 0 ? first_width(table, line.width) : column.width;
        const TableCell &cell = row.cells[i];
        Style style{cell.role, row.heading, false};
        if (i == 0) {
            const int mark = frame.put(x, line.y, tree_mark(row, frame.ascii()),
                                       {Role::dim, false, false}, width);
            if (found)
                style = {Role::mark, true, false};
            put_cut(frame, x + mark, line.y, width - mark, cell.text, style);
        } else if (column.right) {
            frame.put_right(x, line.y, width, cell.text, style);
        } else {
            frame.put(x, line.y, cell.text, style, width);
        }
        x += width + 1;
    }
    if (selected)
        frame.reverse(line.x, line.y, line.width);
}

} // namespace

bool row_matches(const TableRow &row, std::string_view text)
{
    if (text.empty())
        return true;
    const std::string want = lower(text);
    if (lower(row.search).find(want) != std::string::npos)
        return true;
    return std::any_of(row.cells.begin(), row.cells.end(), [&](const TableCell &cell) {
        return lower(cell.text).find(want) != std::string::npos;
    });
}

const Column *sort_column(const Table &table, const TableState &state)
{
    const size_t i = state.sort.empty() ? SIZE_MAX : index_of(table, state.sort);
    return i == SIZE_MAX ? nullptr : &table.columns[i];
}

void arrange(Table &table, const TableState &state, std::string_view filter)
{
    if (!filter.empty())
        keep_matching(table.rows, filter);
    const Column *column = sort_column(table, state);
    if (!column)
        return;
    const auto i = static_cast<size_t>(column - table.columns.data());
    const bool by_text = i == 0;
    const Less less = [&](const TableRow &a, const TableRow &b) {
        if (a.heading || b.heading)
            return false;
        if (i >= a.cells.size() || i >= b.cells.size())
            return false;
        const TableCell &x = state.reverse ? b.cells[i] : a.cells[i];
        const TableCell &y = state.reverse ? a.cells[i] : b.cells[i];
        return by_text ? x.sort < y.sort : x.sort > y.sort;
    };
    sort_level(table.rows, 0, table.rows.size(), less);
}

size_t selected_row(const Table &table, const TableState &state)
{
    for (size_t i = 0; i < table.rows.size(); ++i)
        if (table.rows[i].key == state.selected)
            return i;
    if (state.selected.empty() || table.rows.empty())
        return 0;
    return std::min(state.selected_at, table.rows.size() - 1);
}

std::vector<size_t> fitting_columns(const Table &table, const TableState &state, int width)
{
    std::vector<size_t> candidates;
    if (table.columns.empty())
        return candidates;
    for (size_t i = 1; i < table.columns.size(); ++i)
        if (i > static_cast<size_t>(std::max(state.first_column, 0)))
            candidates.push_back(i);
    std::stable_sort(candidates.begin(), candidates.end(), [&](size_t a, size_t b) {
        return state.first_column == 0 && table.columns[a].keep < table.columns[b].keep;
    });
    std::vector<size_t> out;
    int left = width - first_width(table, width);
    for (const size_t i : candidates) {
        const int need = table.columns[i].width + 1;
        if (need > left) {
            if (state.first_column != 0)
                break;
            continue;
        }
        left -= need;
        out.push_back(i);
    }
    out.push_back(0);
    std::sort(out.begin(), out.end());
    return out;
}

int table_page(int height)
{
    return std::max(height - 1, 1);
}

int first_row(const Table &table, const TableState &state, int height)
{
    const int page = table_page(height);
    const int rows = static_cast<int>(table.rows.size());
    const int at = static_cast<int>(selected_row(table, state));
    int top = std::clamp(state.top, 0, std::max(rows - page, 0));
    if (at < top)
        top = at;
    if (at >= top + page)
        top = at - page + 1;
    return top;
}

void draw_table(Frame &frame, Rect area, const Table &table, const TableState &state,
                std::string_view search)
{
    if (area.height <= 0 || area.width <= 0)
        return;
    const std::vector<size_t> columns = fitting_columns(table, state, area.width);
    draw_header(frame, area, table, state, columns);
    if (table.rows.empty()) {
        frame.put(area.x, area.y + 1, table.empty, {Role::dim, false, false}, area.width);
        return;
    }
    const int top = first_row(table, state, area.height);
    const size_t selected = selected_row(table, state);
    for (int line = 1; line < area.height; ++line) {
        const size_t i = static_cast<size_t>(top + line - 1);
        if (i >= table.rows.size())
            break;
        const bool found = !search.empty() && row_matches(table.rows[i], search);
        draw_row(frame, {area.x, area.y + line, area.width, 1}, table, table.rows[i], columns,
                 i == selected && !state.in_header, found);
    }
}

} // namespace blktag::view
