// SPDX-License-Identifier: GPL-2.0-or-later
// The views, one function or two each; only for src/view. Input: Facts, UiState. Output: tables and
// cells.
#pragma once

#include "view/facts.hpp"

namespace blktag::view {

// The views that are tables; arranged. The others give one without columns.
Table table_of(ViewId view, const Facts &facts, const UiState &state);
Table overview_table(const Facts &facts, const UiState &state);
Table tasks_table(const Facts &facts, const UiState &state);
Table runs_table(const Facts &facts, const UiState &state);
Table batches_table(const Facts &facts, const UiState &state);
Table topology_table(const Facts &facts, const UiState &state);

void draw_tags(Frame &frame, Rect area, const Facts &facts, const UiState &state);
void draw_latency(Frame &frame, Rect area, const Facts &facts, const Screen &screen,
                  const UiState &state);
// Who holds what others wait for: beside or below the waiters; nothing where no set is shared.
// Returns the lines it took at the bottom of the area.
int draw_blame(Frame &frame, Rect area, const Facts &facts);

// The tag map's space, and its tags with the reserved ones.
uint16_t shown_space(const Facts &facts, const UiState &state);
uint32_t tags_of_space(const Facts &facts, uint16_t space_id);
// Tags in one line of the map.
int tags_per_line(Rect area, const Facts &facts, uint16_t space_id);
Rect map_area(Rect area);

// "nvme0n1 hctx2: 93 % of gets wait, 4 tags, cause: exhausted, held by fio/412"
struct Verdict {
    std::string text;
    Role role = Role::normal;
};
Verdict verdict_of(const Facts &facts);

} // namespace blktag::view
