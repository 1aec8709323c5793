// SPDX-License-Identifier: GPL-2.0-or-later
// A table that sorts, filters, scrolls and drops columns that do not fit. Input: columns, rows, the
// user's choices. Output: cells in a Frame.
#pragma once

#include "view/frame.hpp"
#include "view/state.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace blktag::view {

// One column, once: its header, its explanation on Enter and in the manual.
struct Column {
    const char *id;
    const char *header; // with its unit where the cells have none
    const char *help;   // meaning, unit; where from; what loss does to it
    int width;
    bool right = true;
    int keep = 50; // columns with larger numbers go first where there is no room
};

struct TableCell {
    std::string text; // escaped
    Role role = Role::normal;
    double sort = 0; // larger ones first
};

struct TableRow {
    std::string key;      // of the object, unique in the table
    std::string search;   // more text to be found by
    int depth = 0;        // below the row with a smaller depth before it
    bool heading = false; // of a section: not sorted away from its rows
    bool open = true;     // its children are in the table
    bool has_children = false;
    std::vector<TableCell> cells;
};

struct Table {
    std::vector<Column> columns;
    std::vector<TableRow> rows;
    std::string empty; // what to say where there is no row
};

struct Rect {
    int x = 0, y = 0, width = 0, height = 0;
};

// Filters and sorts the rows, in place; a row stays where one below it stays.
void arrange(Table &table, const TableState &state, std::string_view filter);
// Index of the selected row; where the object went away, the row that took its place. 0 without
// any.
size_t selected_row(const Table &table, const TableState &state);
// Columns shown in `width`, by index, in order.
std::vector<size_t> fitting_columns(const Table &table, const TableState &state, int width);
// Lines for rows, in a table of that height.
int table_page(int height);
// First row shown so that the selected one is.
int first_row(const Table &table, const TableState &state, int height);
void draw_table(Frame &frame, Rect area, const Table &table, const TableState &state,
                std::string_view search);
// Whether the row has the text, in any case.
bool row_matches(const TableRow &row, std::string_view text);
// The column that the rows are sorted by, nullptr for the view's own order.
const Column *sort_column(const Table &table, const TableState &state);

} // namespace blktag::view
