// SPDX-License-Identifier: GPL-2.0-or-later
// The fixed parts of the HTML report; only for src/report. Input: none. Output: texts, and their
// SHA-256 as base64 for the content security policy. chart_library is empty in a build without it.
#pragma once

namespace blktag::report::page {

extern const char *const style;
extern const char *const script;
extern const char *const chart_library;
extern const char *const style_hash;
extern const char *const script_hash;
extern const char *const chart_library_hash;

} // namespace blktag::report::page
