// SPDX-License-Identifier: GPL-2.0-or-later
// tagreport: recordings to a report. Input: trace files. Output: text or JSON on stdout or in a
// file; notices on stderr.
#include "options.hpp"

#include "agg/summarize.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "compare/compare.hpp"
#include "report/compare.hpp"
#include "report/expect.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "store/reader.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <span>
#include <unistd.h>

namespace {

using namespace tagreport;
using blktag::Error;
using blktag::Snapshot;

void complain(const std::string &file, const Error &error)
{
    fmt::print(stderr, "tagreport: {}: {}\n", blktag::base::escape_terminal(file),
               blktag::base::escape_terminal(error.what));
    if (!error.remedy.empty())
        fmt::print(stderr, "tagreport: {}\n", blktag::base::escape_terminal(error.remedy));
}

uint64_t add_up_to_max(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

std::expected<Snapshot, Error> read_file(const std::string &file, const Options &options)
{
    auto reader = blktag::store::Reader::open(file);
    if (!reader)
        return std::unexpected(reader.error());
    const blktag::TraceInfo &info = (*reader)->info();
    blktag::agg::Window window;
    if (options.from_ns != 0)
        window.from_ns = add_up_to_max(info.start_mono_ns, options.from_ns);
    if (options.to_ns)
        window.to_ns = add_up_to_max(info.start_mono_ns, *options.to_ns);
    return blktag::agg::summarize(**reader, window);
}

// Returns 0 or an exit status.
int write_out(const std::string &text, const std::string &path)
{
    blktag::base::Fd file;
    const std::string name = path.empty() ? "standard output" : path;
    if (!path.empty()) {
        file =
            blktag::base::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!file.valid()) {
            complain(name,
                     blktag::base::errno_error("cannot write", errno, "name another file with -o"));
            return exit_failed;
        }
    }
    size_t written = 0;
    int error = blktag::base::write_all(path.empty() ? STDOUT_FILENO : file.get(),
                                        std::as_bytes(std::span(text)), written);
    if (error == 0 && !path.empty())
        error = file.close_now();
    if (error == 0)
        return exit_ok;
    complain(name, blktag::base::errno_error("cannot write", error,
                                             "make room, or write elsewhere with -o"));
    return exit_failed;
}

std::string render(const std::vector<Snapshot> &snapshots, const std::vector<std::string> &names,
                   bool json)
{
    if (json)
        return snapshots.size() == 1 ? blktag::report::json_report(snapshots[0])
                                     : blktag::report::json_reports(snapshots);
    std::string out;
    for (size_t i = 0; i < snapshots.size(); ++i) {
        if (snapshots.size() > 1)
            out += fmt::format("{}==> {} <==\n", i == 0 ? "" : "\n",
                               blktag::base::escape_terminal(names[i], 72));
        out += blktag::report::text_report(snapshots[i]);
    }
    return out;
}

std::string thresholds_text()
{
    namespace diagnose = blktag::diagnose;
    std::string out;
    for (const diagnose::Kind &kind : diagnose::kinds())
        out += fmt::format("finding {:<24} {:<8} {}\n", kind.id,
                           diagnose::severity_name(kind.severity), kind.title);
    for (const diagnose::ThresholdInfo &t : diagnose::threshold_table())
        out += fmt::format("threshold {:<22} {} {}: {}\n", t.name, t.value, t.unit, t.help);
    for (const diagnose::NotTold &n : diagnose::not_told())
        out += fmt::format("not told: {}: {}\n", n.what, n.why);
    return out;
}

// Names each finding that counts, on stderr: the report itself may go to a file.
bool check_findings(const std::vector<Snapshot> &snapshots, const std::vector<std::string> &names,
                    const Options &options)
{
    bool found = false;
    for (size_t i = 0; i < snapshots.size(); ++i)
        for (const auto &finding : blktag::diagnose::diagnose(snapshots[i])) {
            if (finding.severity < options.severity)
                continue;
            found = true;
            fmt::print(stderr, "tagreport: {}: {}: {}\n",
                       blktag::base::escape_terminal(names[i]), finding.id, finding.summary);
        }
    return found;
}

std::expected<std::string, Error> read_text(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.good() && !file.eof())
        return std::unexpected(blktag::base::errno_error("cannot read", errno, "name a file"));
    return text;
}

// 0, exit_findings, or exit_failed where the bounds cannot be read.
int check_bounds(const std::vector<Snapshot> &snapshots, const std::vector<std::string> &names,
                 const Options &options)
{
    const auto text = read_text(options.expect);
    if (!text) {
        complain(options.expect, text.error());
        return exit_failed;
    }
    int status = exit_ok;
    for (size_t i = 0; i < snapshots.size(); ++i) {
        const auto broken = blktag::report::breaches(snapshots[i], *text);
        if (!broken) {
            complain(options.expect, broken.error());
            return exit_failed;
        }
        for (const std::string &line : *broken) {
            fmt::print(stderr, "tagreport: {}: {}\n", blktag::base::escape_terminal(names[i]), line);
            status = exit_findings;
        }
    }
    return status;
}

int compare_files(const std::vector<Snapshot> &snapshots, const std::vector<std::string> &names,
                  const Options &options)
{
    std::vector<blktag::compare::Side> sides;
    for (size_t i = 0; i < snapshots.size(); ++i) {
        if (i % options.runs == 0) {
            std::string name = blktag::base::escape_terminal(names[i], 60);
            if (options.runs > 1)
                name += fmt::format(" and {} more", options.runs - 1);
            sides.push_back({std::move(name), {}});
        }
        sides.back().runs.push_back(&snapshots[i]);
    }
    const auto comparison = blktag::compare::compare(sides);
    if (!comparison) {
        complain("cannot compare", comparison.error());
        return exit_failed;
    }
    if (!options.html.empty())
        return write_out(blktag::report::html_comparison(*comparison), options.html);
    return write_out(options.json ? blktag::report::json_comparison(*comparison)
                                  : blktag::report::text_comparison(*comparison),
                     options.output);
}

int report(const std::vector<Snapshot> &snapshots, const std::vector<std::string> &names,
           const Options &options, bool impaired)
{
    const int written = options.compare ? compare_files(snapshots, names, options)
                        : !options.html.empty()
                            ? write_out(blktag::report::html_report(snapshots[0]), options.html)
                            : write_out(render(snapshots, names, options.json), options.output);
    if (written != exit_ok)
        return written;
    const bool found = options.check && check_findings(snapshots, names, options);
    const int bounds =
        options.expect.empty() ? int{exit_ok} : check_bounds(snapshots, names, options);
    if (bounds == exit_failed)
        return exit_failed;
    if (found || bounds == exit_findings)
        return exit_findings;
    return impaired ? exit_impaired : exit_ok;
}

int run(const Options &options)
{
    if (options.json_schema)
        return write_out(std::string(blktag::report::json_schema()), options.output);
    if (options.thresholds)
        return write_out(thresholds_text(), options.output);
    std::vector<Snapshot> snapshots;
    std::vector<std::string> names;
    bool impaired = false;
    for (const std::string &file : options.files) {
        auto snapshot = read_file(file, options);
        if (!snapshot) {
            complain(file, snapshot.error());
            if (options.compare)
                return exit_failed;
            impaired = true;
            continue;
        }
        impaired |= snapshot->impaired();
        snapshots.push_back(std::move(*snapshot));
        names.push_back(file);
    }
    if (snapshots.empty())
        return exit_failed;
    return report(snapshots, names, options, impaired);
}

} // namespace

int main(int argc, char **argv)
{
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of write(), told like any other
    const auto options = parse_options(argc, argv);
    return options ? run(*options) : options.error();
}
