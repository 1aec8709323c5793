// SPDX-License-Identifier: GPL-2.0-or-later
// Traces as bytes in memory, for tests: written and read through the real writer and reader by way
// of memfds. Input: batches, or bytes. Output: bytes, or what the reader made of them.
#pragma once

#include "store/reader.hpp"
#include "store/writer.hpp"
#include "support/random_batch.hpp"

#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blktag::test {

inline base::Fd memory_file(std::string_view bytes = {})
{
    base::Fd fd(::memfd_create("trace", MFD_CLOEXEC));
    size_t written = 0;
    if (!fd.valid() || base::write_all(fd.get(), std::as_bytes(std::span(bytes)), written) != 0 ||
        ::lseek(fd.get(), 0, SEEK_SET) != 0)
        throw std::runtime_error("memfd");
    return fd;
}

inline std::string content(int fd)
{
    struct stat status {};
    ::fstat(fd, &status);
    std::string bytes(static_cast<size_t>(status.st_size), '\0');
    if (!base::pread_full(fd, std::as_writable_bytes(std::span(bytes)), 0))
        throw std::runtime_error("pread");
    return bytes;
}

inline TraceInfo sample_info()
{
    TraceInfo info;
    info.tool_version = "0.1.0";
    info.kernel_release = "6.12.0-test";
    info.machine = "x86_64";
    info.hostname = "host";
    info.argv = {"tagtrace", "--record", "with space"};
    info.command = "fio job";
    info.nr_cpus = 4;
    info.ring_size_bytes = 65536;
    info.start_mono_ns = 123456789;
    info.start_real_ns = 1'770'000'000'123'456'789;
    info.filters = {"dev=nullb0"};
    info.rungs = {{"tag_get", "__blk_mq_get_tag", "fexit", ""}, {"budget", "", "none", "no scsi"}};
    info.not_measured = {"budget_taken"};
    info.topology_json = R"({"queues":[{"queue_id":0,"name":"nullb0"}]})";
    return info;
}

inline Books sample_books(uint64_t records)
{
    Books books;
    books.produced = records + 3;
    books.recorded = records;
    books.lost = 3;
    books.missed = 1;
    books.lost_by_kind.assign(BT_NR_RING_KINDS, 0);
    books.lost_by_kind[BT_K_IO] = 3;
    return books;
}

// A whole trace: each batch is a chunk of its own or more.
inline std::string write_trace(const std::vector<Batch> &batches)
{
    base::Fd fd = memory_file();
    const int raw = ::dup(fd.get());
    base::Fd keep(raw);
    TraceInfo info = sample_info();
    auto writer = store::Writer::open(std::move(fd), info, {});
    uint64_t now_ns = 1, records = 0;
    for (const Batch &batch : batches) {
        records += batch.size();
        (*writer)->set_books(sample_books(records));
        if (!(*writer)->put(batch) || !(*writer)->tick(now_ns))
            throw std::runtime_error("put");
        now_ns += 2'000'000'000;
        if (!(*writer)->tick(now_ns))
            throw std::runtime_error("tick");
    }
    info.end_mono_ns = 999;
    info.end_real_ns = 1999;
    if (!(*writer)->finish(info, sample_books(records)))
        throw std::runtime_error("finish");
    return content(raw);
}

struct ReadBack {
    std::string error; // of open or next
    Batch batch;       // all batches joined
    size_t chunks = 0;
    TraceInfo info;
    Books books;
    std::vector<Damage> damage;
    store::ReaderStats stats;
};

inline ReadBack read_trace(base::Fd fd)
{
    ReadBack out;
    auto reader = store::Reader::open(std::move(fd));
    if (!reader) {
        out.error = reader.error().what;
        return out;
    }
    for (Batch batch;;) {
        const auto more = (*reader)->next(batch);
        if (!more)
            out.error = more.error().what;
        if (!more || !*more)
            break;
        append(out.batch, batch);
        out.chunks++;
    }
    out.info = (*reader)->info();
    out.books = (*reader)->books();
    out.damage = (*reader)->damage();
    out.stats = (*reader)->stats();
    return out;
}

inline ReadBack read_trace(std::string_view bytes)
{
    return read_trace(memory_file(bytes));
}

} // namespace blktag::test
