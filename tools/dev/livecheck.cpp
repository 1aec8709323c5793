// SPDX-License-Identifier: GPL-2.0-or-later
// Holds the kernel's histograms against records of the same requests. Input: -d DEVICE COMMAND... (root). Output: a
// line per distribution, "same NAME COUNT" or "differ NAME ...", then "requests N waits N dispatch_waits N lost N";
// status 1 where any differs.
#include "agg/aggregate.hpp"
#include "agg/make_snapshot.hpp"
#include "capture/capture.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace blktag;

// The kernel's smallest duration is known by its bin only, and a record that was lost is in no bin.
bool same(const Distribution &records, const Distribution &kernel)
{
    return records.count == kernel.count && records.sum_ns == kernel.sum_ns &&
           records.max_ns == kernel.max_ns && records.bins == kernel.bins;
}

bool compare(const std::string &name, const Distribution &records, const Distribution &kernel)
{
    if (same(records, kernel)) {
        fmt::print("same {} {}\n", name, kernel.count);
        return true;
    }
    fmt::print("differ {}: records {} sum {} max {}, kernel {} sum {} max {}\n", name,
               records.count, records.sum_ns, records.max_ns, kernel.count, kernel.sum_ns,
               kernel.max_ns);
    return false;
}

bool compare_all(const Snapshot &records, const Snapshot &kernel)
{
    bool good = true;
    for (size_t i = 0; i < nr_phases && records.latency && kernel.latency; ++i)
        good &= compare(std::string(phase_name(static_cast<Phase>(i))), records.latency->phase[i],
                        kernel.latency->phase[i]);
    if (records.latency && kernel.latency)
        good &= compare("whole", records.latency->whole, kernel.latency->whole);
    for (unsigned cause = 0; cause < BT_NR_CAUSES; ++cause) {
        const std::string name(cause_name(static_cast<bt_cause>(cause)));
        good &= compare("waits_" + name, records.waits.by_cause[cause].time,
                        kernel.waits.by_cause[cause].time);
        good &= compare("dispatch_waits_" + name, records.dispatch_waits.by_cause[cause].time,
                        kernel.dispatch_waits.by_cause[cause].time);
    }
    good &= compare("restart_delay", records.runs.restart_delay, kernel.runs.restart_delay);
    for (size_t i = 0; i < records.ops.size() && i < kernel.ops.size(); ++i)
        good &= compare(std::string(op_name(records.ops[i].op)) + "_device", records.ops[i].device,
                        kernel.ops[i].device);
    return good && records.latency && kernel.latency && records.ops.size() == kernel.ops.size();
}

// Runs the command under a session that does both; one Aggregate gets the records, the other what the kernel summed.
int run(capture::Session &session, char **command)
{
    pid_t pid = 0;
    if (const int err = posix_spawnp(&pid, command[0], nullptr, nullptr, command, environ)) {
        fmt::print(stderr, "livecheck: {}: {}\n", command[0], strerror(err));
        return 2;
    }
    agg::Aggregate records;
    agg::Aggregate kernel;
    records.start(session.info());
    kernel.start(session.info());
    bool running = true;
    Batch batch;
    for (;;) {
        const auto more = session.next(batch);
        if (!more) {
            fmt::print(stderr, "livecheck: {}\n", more.error().what);
            return 2;
        }
        if (!*more)
            break;
        Batch summed;
        std::swap(summed.histograms, batch.histograms);
        summed.counters = batch.counters;
        summed.idents = batch.idents;
        records.add(batch);
        kernel.add(summed);
        if (running && waitpid(pid, nullptr, WNOHANG) == pid) {
            running = false;
            session.request_stop();
        }
    }
    const agg::Recording recording{session.info(), session.books(), session.damage()};
    const Snapshot of_records = agg::make_snapshot(records, recording);
    const Snapshot of_kernel = agg::make_snapshot(kernel, recording);
    const bool good = compare_all(of_records, of_kernel);
    fmt::print("requests {} waits {} dispatch_waits {} lost {} missed {}\n",
               of_kernel.latency ? of_kernel.latency->whole.count : 0, of_kernel.waits.time.count,
               of_kernel.dispatch_waits.time.count, session.books().lost, session.books().missed);
    for (const Note &note : of_kernel.notes)
        fmt::print("note {}\n", note.text);
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 4 || strcmp(argv[1], "-d") != 0) {
        fmt::print(stderr, "usage: livecheck -d DEVICE COMMAND [ARGUMENT...]\n");
        return 2;
    }
    capture::Options options;
    options.devices = {argv[2]};
    options.histograms = true;
    options.ring_size_bytes = 2U << 20;
    auto session = capture::Session::open(options);
    if (!session) {
        fmt::print(stderr, "livecheck: {}: {}\n", session.error().what, session.error().remedy);
        return 2;
    }
    return run(**session, argv + 3);
}
