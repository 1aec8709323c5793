// SPDX-License-Identifier: GPL-2.0-or-later
// Events one by one: a text line or a JSON line each. Input: batches in time order, and the
// recording's TraceInfo for names. Output: lines; the same records give the same bytes anywhere.
//
// Text: seconds since the start, [CPU], kind, queue/hctx, then name=value, times with their unit.
// Names from outside are escaped. JSON: one object a line, every field of wire.h under its name,
// and the names that go with the ids.
#pragma once

#include "blktag/records.hpp"

#include "model/tasks.hpp"
#include "model/topology.hpp"

#include <string>

namespace blktag::report {

class EventPrinter {
  public:
    EventPrinter(bool json, const TraceInfo &info);
    // Appends a line per record, in time order, kinds mixed.
    void print(const Batch &batch, std::string &out);

  private:
    class Line;
    void learn(const Batch &batch);
    void io(Line &line, const bt_io_long &io);
    void event(Line &line, const bt_task &task);
    void event(Line &line, const bt_wait &wait);
    void event(Line &line, const bt_dwait &wait);
    void event(Line &line, const bt_restart &restart);
    void run(Line &line, const bt_run &run);
    void arm(Line &line, const bt_run &arm);
    void refuse(Line &line, const bt_refuse &refusal);
    void event(Line &line, const bt_batch &batch);
    void event(Line &line, const bt_budget &budget);
    void event(Line &line, const bt_other_wait &wait);
    void event(Line &line, const bt_ident_rec &ident);
    void event(Line &line, const CounterSnapshot &counters);
    void event(Line &line, const bt_gauge &gauge);
    void event(Line &line, const bt_hgauge &gauge);
    void event(Line &line, const bt_loss &loss);
    void one(const Batch &batch, bt_kind kind, size_t at, std::string &out);
    void topology(const std::string &json, std::string &out) const;

    bool json_;
    uint64_t start_ns_;
    model::Topology topology_;
    model::TaskTable tasks_;
};

} // namespace blktag::report
