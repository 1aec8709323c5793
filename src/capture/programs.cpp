// SPDX-License-Identifier: GPL-2.0-or-later
// Loading and attaching through libbpf. Input: skeletons, choices. Output: links and mapped arrays.
#include "capture/programs.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "blktag.skel.h"
#include "driver.skel.h"

#include <array>
#include <cstdarg>
#include <cstdio>

#include <fmt/format.h>

namespace blktag::capture {

namespace {

// libbpf reports through one callback per process; the newest warning is what an Error quotes.
thread_local std::string last_warning;

int keep_warning(libbpf_print_level level, const char *format, va_list args)
{
    if (level != LIBBPF_WARN)
        return 0;
    std::array<char, 512> line{};
    { va_list copy; va_copy(copy, args); vsnprintf(line.data(), line.size(), format, copy); va_end(copy); }
    last_warning = line.data();
    while (!last_warning.empty() && last_warning.back() == '\n')
        last_warning.pop_back();
    return 0;
}

Error load_error(int err)
{
    if (err == -EPERM)
        return {"the kernel does not permit loading BPF programs", "run as root, or with CAP_BPF and CAP_PERFMON; check "
                                                                   "/sys/kernel/security/lockdown"};
    return {fmt::format("cannot load the BPF programs: {} ({})", strerror(-err), last_warning),
            "run 'tagtrace doctor' and report its output"};
}

// A program of this type reads and writes its context in place; ctx_out must stay empty.
template<class T> int run_syscall_program(const bpf_program *program, T &io)
{
    bpf_test_run_opts opts{};
    opts.sz = sizeof(opts);
    opts.ctx_in = &io;
    opts.ctx_size_in = sizeof(io);
    return bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
}

} // namespace

void Programs::LinkDestroy::operator()(bpf_link *link) const
{
    bpf_link__destroy(link);
}

void Programs::SkeletonDestroy::operator()(blktag_bpf *s) const
{
    blktag_bpf__destroy(s);
}

Programs::Programs()
{
    libbpf_set_print(keep_warning);
    libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
}

Programs::~Programs()
{
    detach();
}

void Programs::size_maps(const bt_knobs &k)
{
    auto &m = main_->maps;
    bpf_map__set_max_entries(m.idents, k.ident_mask + 1);
    bpf_map__set_max_entries(m.rows, k.nr_cpus * k.max_rows);
    bpf_map__set_max_entries(m.slots, k.nr_slots);
    bpf_map__set_max_entries(m.waits, k.wait_mask + 1);
    bpf_map__set_max_entries(m.tasks, k.task_mask + 1);
    bpf_map__set_max_entries(m.hstates, k.max_rows);
    bpf_map__set_max_entries(m.objects, k.max_rows);
    bpf_map__set_max_entries(m.spaces, k.max_spaces);
    bpf_map__set_max_entries(m.hists, k.nr_hists);
    bpf_map__set_value_size(m.rings, BT_RING_HEAD_BYTES + k.ring_size_bytes + BT_RING_GUARD_BYTES);
    bpf_map__set_max_entries(m.rings, k.nr_cpus);
}

std::expected<void, Error> Programs::map_arrays()
{
    auto take = [](auto &array, const bpf_map *map) -> std::expected<void, Error> {
        using Array = std::remove_reference_t<decltype(array)>;
        auto mapped = Array::map(bpf_map__fd(map), bpf_map__max_entries(map), bpf_map__value_size(map));
        if (!mapped)
            return std::unexpected(mapped.error());
        array = std::move(*mapped);
        return {};
    };
    auto &m = main_->maps;
    for (auto done : {take(rings, m.rings), take(rows, m.rows), take(slots, m.slots), take(waits, m.waits),
                      take(hstates, m.hstates), take(hists, m.hists), take(bit_words, m.bit_words),
                      take(objects, m.objects), take(spaces, m.spaces)})
        if (!done)
            return done;
    return {};
}

std::expected<Programs::Link, Error> Programs::attach(bpf_program *program, const ProgramUse &use)
{
    bpf_link *link = use.attach == Attach::automatic
                         ? bpf_program__attach(program)
                         : bpf_program__attach_kprobe(program, use.attach == Attach::kretprobe, use.function);
    if (!link)
        return std::unexpected(Error{fmt::format("cannot attach {}: {}", bpf_program__name(program), strerror(errno)), ""});
    return Link(link);
}

std::expected<void, Error> Programs::load(const bt_knobs &knobs, const std::vector<Choice> &choices, Refused &refused)
{
    knobs_ = knobs;
    main_.reset(blktag_bpf__open());
    if (!main_)
        return std::unexpected(load_error(-errno));
    main_->rodata->knobs = knobs;
    size_maps(knobs);

    bpf_program *p = nullptr;
    bpf_object__for_each_program(p, main_->obj) bpf_program__set_autoload(p, bpf_program__type(p) == BPF_PROG_TYPE_SYSCALL);
    for (const Choice &c : choices)
        for (const ProgramUse &use : c.rung ? c.rung->programs : std::vector<ProgramUse>{})
            if ((p = bpf_object__find_program_by_name(main_->obj, use.program)))
                bpf_program__set_autoload(p, true);
    if (const int err = blktag_bpf__load(main_.get()))
        return std::unexpected(load_error(err));
    if (auto mapped = map_arrays(); !mapped)
        return mapped;

    for (const Choice &c : choices) {
        if (!c.rung)
            continue;
        for (const ProgramUse &use : c.rung->programs) {
            auto link = attach(bpf_object__find_program_by_name(main_->obj, use.program), use);
            if (!link) {
                refused = {fmt::format("{}/{}", c.probe->name, c.rung->name), link.error().what};
                return std::unexpected(link.error());
            }
            links_.push_back(std::move(*link));
        }
    }
    return {};
}

void Programs::detach()
{
    for (Driver &d : drivers_)
        d.links.clear();
    links_.clear();
}

bool Programs::sample(bt_sample_space &io)
{
    return !run_syscall_program(main_->progs.sample_space, io) && io.ok;
}

bool Programs::sample(bt_sample_hctx &io)
{
    return !run_syscall_program(main_->progs.sample_hctx, io) && io.ok;
}

bool Programs::sample(bt_sample_bits &io)
{
    return !run_syscall_program(main_->progs.sample_bits, io) && io.ok;
}

std::string Programs::op_name(uint16_t queue_id, bt_driver_op op)
{
    bt_resolve_op io{};
    io.id = queue_id;
    io.which = op;
    if (run_syscall_program(main_->progs.resolve_op, io) || !io.ok)
        return {};
    io.name[BT_SYMBOL_LEN - 1] = 0;
    return io.name;
}

namespace {

// The part of struct bpf_link_info that tells a kprobe's misses (kernel 6.7, commit 3acf8ace6823), by itself because
// the build host's linux/bpf.h may be older.
struct KprobeLinkInfo {
    uint32_t type, id, prog_id, pad0;
    uint32_t perf_type, pad1;
    uint64_t func_name;
    uint32_t name_len, offset;
    uint64_t addr;
    uint64_t missed;
    uint64_t cookie;
};
constexpr uint32_t link_type_perf_event = 7;
constexpr uint32_t perf_event_kprobe = 3, perf_event_kretprobe = 4;

} // namespace

void Programs::add_misses(const bpf_object *object, const std::vector<Link> &links, Misses &misses)
{
    bpf_program *p = nullptr;
    bpf_object__for_each_program(p, object)
    {
        bpf_prog_info info{};
        uint32_t size = sizeof(info);
        if (bpf_program__fd(p) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size))
            misses.count += info.recursion_misses;
    }
    for (const Link &link : links) {
        KprobeLinkInfo info{};
        uint32_t size = sizeof(info);
        if (bpf_obj_get_info_by_fd(bpf_link__fd(link.get()), &info, &size) || info.type != link_type_perf_event)
            continue;
        if (info.perf_type == perf_event_kprobe || info.perf_type == perf_event_kretprobe)
            misses.count += info.missed;
        else
            misses.kprobes_unknown = true;
    }
}

Programs::Misses Programs::misses() const
{
    Misses misses;
    add_misses(main_->obj, links_, misses);
    for (const Driver &d : drivers_)
        add_misses(d.skeleton->obj, d.links, misses);
    return misses;
}

const bt_globals &Programs::globals() const
{
    return main_->bss->globals;
}

} // namespace blktag::capture
