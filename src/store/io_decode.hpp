// SPDX-License-Identifier: GPL-2.0-or-later
// The io block of one chunk to rows. Input: its columns. Output: records appended, not validated
// yet.
#pragma once

#include "store/columns.hpp"

#include "blktag/records.hpp"

#include <array>
#include <vector>

namespace blktag::store {

class IoDecoder {
  public:
    // Appends block.count records. false = the columns do not fit each other; `out` is as before
    // then.
    bool decode(ColumnReader &reader, ColumnReader::Block &block, std::vector<bt_io_long> &out);

  private:
    static constexpr size_t known_columns = IO_REFUSED_NS + 1;

    // A column as one value per row: values[i & mask], mask 0 for a constant.
    struct View {
        const uint64_t *values = nullptr;
        size_t mask = 0;
        uint64_t operator[](size_t i) const { return values[i & mask]; }
    };

    bool read_columns(ColumnReader &reader, ColumnReader::Block &block);
    bool check_index();
    bool check_counts();
    bool view(IoColumn id, View &out);
    bool prototypes();
    bool rows(std::vector<bt_io_long> &out);
    bool plain_columns(std::span<bt_io_long> out);
    bool rare_stamps(std::span<bt_io_long> out, const View &present);
    bool streams(std::span<bt_io_long> out);

    std::array<Column, known_columns> columns_;
    std::array<bool, known_columns> seen_{};
    std::array<Raw<uint64_t>, known_columns> expanded_; // dictionary columns by row
    Column other_;
    std::vector<bt_io_long> prototypes_;
    std::vector<uint64_t> end_;
    size_t count_ = 0;
    size_t entries_ = 1;
};

} // namespace blktag::store
