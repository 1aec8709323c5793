// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes from outside made safe to show. Input: untrusted bytes. Output: text without control bytes,
// of known width.
//
// Everything that was not written by blktag itself (task names, device names, host names, paths,
// anything from a file) goes through here before it reaches a terminal or JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace blktag::base {

// For terminals: printable UTF-8 passes; control bytes and broken UTF-8 become \xNN; characters
// that have no place of their own on the screen (combining, bidirectional controls, unassigned
// planes) become \u{NNNN}; a backslash becomes \\, so the text can be told from an escape. The
// result is valid UTF-8.
std::string escape_terminal(std::string_view bytes);
// The same, cut to at most `max_columns` columns; a cut text ends in "~".
std::string escape_terminal(std::string_view bytes, size_t max_columns);

// The first character of a text made by escape_terminal. `bytes` is 0 only for an empty text.
struct Glyph {
    char32_t code = 0;
    size_t columns = 0;
    size_t bytes = 0;
};
Glyph first_glyph(std::string_view escaped);

// Columns that a text made by escape_terminal takes.
size_t display_width(std::string_view escaped);
// The text filled with spaces to `columns`, on its right side or (right = true) its left. Never
// cuts.
std::string pad(std::string_view escaped, size_t columns, bool right = false);

// A JSON string with its quotes; broken UTF-8 becomes U+FFFD, control and C1 characters \uNNNN.
std::string json_string(std::string_view bytes);
void append_json_string(std::string &out, std::string_view bytes);

// A fixed-size name field up to its first NUL.
std::string_view fixed_string(const unsigned char *bytes, size_t size);

} // namespace blktag::base
