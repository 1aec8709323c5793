// SPDX-License-Identifier: GPL-2.0-or-later
// Golden screens: every view at several sizes, from a recording, and the same from the same records
// fed live. Input: view/scene.trace, view/NAME.frame. Output: test results. With BLKTAG_NEW_FRAMES
// set the frames are written, to be looked at before they are committed.
#include "decode/batch.hpp"
#include "support/trace_bytes.hpp"
#include "support/trace_text.hpp"
#include "view/draw.hpp"
#include "view/replay.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace {

using namespace blktag;
using view::Size;
using view::ViewId;

const std::string folder = std::string(BLKTAG_SOURCE_DIR) + "/tests/golden/view/";

std::string slurp(const std::string &path)
{
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

test::TraceText scene()
{
    test::TraceText trace = test::parse_trace(slurp(folder + "scene.trace"));
    decode::for_each_kind(trace.batch, [](auto &records, bt_kind) {
        std::stable_sort(records.begin(), records.end(), [](const auto &a, const auto &b) {
            return decode::time_of(a) < decode::time_of(b);
        });
    });
    return trace;
}

// A file of the scene, in memory.
std::string recorded()
{
    const test::TraceText trace = scene();
    base::Fd fd = test::memory_file();
    const base::Fd copy(::dup(fd.get()));
    auto writer = store::Writer::open(std::move(fd), trace.info, {});
    EXPECT_TRUE(writer);
    EXPECT_TRUE((*writer)->put(trace.batch));
    EXPECT_TRUE((*writer)->finish(trace.info, trace.books));
    return test::content(copy.get());
}

view::Replay::Opener file_opener()
{
    return [bytes = recorded()]() -> std::expected<std::unique_ptr<RecordSource>, Error> {
        auto reader = store::Reader::open(test::memory_file(bytes));
        if (!reader)
            return std::unexpected(reader.error());
        return std::move(*reader);
    };
}

// The same records as a session would give them: a piece of time each, some empty, none from later.
class PieceSource : public RecordSource {
  public:
    PieceSource() : trace_(scene()) {}
    std::expected<bool, Error> next(Batch &batch) override
    {
        batch.clear();
        if (done_)
            return false;
        if (++calls_ % 3 == 0)
            return true;
        now_ns_ += 37'000'000;
        bool left = false;
        decode::for_each_pair(trace_.batch, batch, [&](auto &mine, auto &out, bt_kind) {
            const auto end = std::find_if(mine.begin(), mine.end(), [&](const auto &record) {
                return decode::time_of(record) > now_ns_;
            });
            out.assign(mine.begin(), end);
            mine.erase(mine.begin(), end);
            left |= !mine.empty();
        });
        done_ = !left;
        return true;
    }
    [[nodiscard]] const TraceInfo &info() const override { return trace_.info; }
    [[nodiscard]] const Books &books() const override { return trace_.books; }
    [[nodiscard]] const std::vector<Damage> &damage() const override { return trace_.damage; }

  private:
    test::TraceText trace_;
    uint64_t now_ns_ = 9'990'000'000;
    int calls_ = 0;
    bool done_ = false;
};

// Plays to `position_ns` in steps of half a second.
view::Screen play(const view::Replay::Opener &opener, uint64_t position_ns)
{
    auto replay = view::Replay::open(opener);
    EXPECT_TRUE(replay);
    view::Looks looks;
    looks.push(std::make_shared<const Snapshot>(replay->snapshot()));
    while (replay->position_ns() < position_ns && !replay->ended()) {
        EXPECT_TRUE(replay->step(500'000'000));
        looks.push(std::make_shared<const Snapshot>(replay->snapshot()));
    }
    view::Screen screen = looks.screen();
    screen.status.source = "scene.tag";
    screen.status.interval_ns = 500'000'000;
    screen.status.now_real_ns = replay->real_ns();
    screen.status.replay = {replay->position_ns(), 3'000'000'000, 1, true, replay->ended()};
    return screen;
}

const view::Screen &screen()
{
    static const view::Screen at = play(file_opener(), 2'000'000'000);
    return at;
}

struct Look {
    const char *name;
    Size size;
    bool ascii;
};
constexpr Look looks[] = {{"80x24", {80, 24}, false},
                          {"132x50", {132, 50}, false},
                          {"40x10", {40, 10}, false},
                          {"ascii", {80, 24}, true}};

view::UiState state_for(ViewId id, bool ascii)
{
    view::UiState state;
    state.view = id;
    state.ascii = ascii;
    return state;
}

void expect_golden(const std::string &name, const std::string &text)
{
    const std::string path = folder + name + ".frame";
    const std::string file = "SPDX-License-Identifier: GPL-2.0-or-later\n" + text;
    if (std::getenv("BLKTAG_NEW_FRAMES")) {
        std::ofstream(path) << file;
        return;
    }
    EXPECT_EQ(slurp(path), file) << name;
}

TEST(Screens, are_as_they_were_looked_at)
{
    for (size_t i = 0; i < view::nr_views; ++i)
        for (const Look &look : looks) {
            const auto id = static_cast<ViewId>(i);
            const view::Frame frame = view::draw(screen(), state_for(id, look.ascii), look.size);
            expect_golden(fmt::format("{}.{}", view::view_name(id), look.name), frame.text());
        }
}

// Without colours the roles go; what is left must tell the rest: text, bold and reverse.
TEST(Screens, say_the_same_without_colours)
{
    for (size_t i = 0; i < view::nr_views; ++i) {
        const auto id = static_cast<ViewId>(i);
        const view::Frame frame = view::draw(screen(), state_for(id, false), {80, 24});
        std::string mono;
        for (int y = 0; y < frame.height(); ++y) {
            for (int x = 0; x < frame.width(); ++x) {
                const view::Style style = frame.at(x, y).style;
                mono += style.reverse ? 'r' : style.bold ? 'b' : '.';
            }
            mono += '\n';
        }
        expect_golden(fmt::format("{}.mono", view::view_name(id)), mono);
    }
}

TEST(Screens, ascii_is_ascii)
{
    for (size_t i = 0; i < view::nr_views; ++i)
        for (const char c :
             view::draw(screen(), state_for(static_cast<ViewId>(i), true), {132, 50}).text())
            ASSERT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Screens, help_names_every_key)
{
    view::UiState state;
    state.mode = view::Mode::help;
    const std::string text = view::draw(screen(), state, {80, 70}).text();
    for (const view::Binding &binding : view::bindings())
        EXPECT_NE(text.find(binding.shown), std::string::npos) << binding.shown;
    expect_golden("help.80x24", view::draw(screen(), state, {80, 24}).text());
}

std::string roff(std::string_view text)
{
    std::string out;
    for (const char c : text)
        out += c == '-' ? "\\-" : c == '\\' ? "\\e" : c == '\'' ? "\\(aq" : std::string(1, c);
    return out.starts_with('.') ? "\\&" + out : out;
}

std::string roff_keys()
{
    std::string out;
    for (const view::Binding &binding : view::bindings())
        out += fmt::format(".TP\n.B \"{}\"\n{}{}.\n", roff(binding.shown), roff(binding.help),
                           binding.replay ? " (replay)" : "");
    return out;
}

std::string roff_fields()
{
    std::string out, view;
    std::istringstream lines(view::fields_text());
    for (std::string line; std::getline(lines, line);) {
        const size_t a = line.find('\t');
        const size_t b = line.find('\t', a + 1);
        if (line.substr(0, a) != view)
            out += fmt::format(".SS {}\n", view = line.substr(0, a));
        out += fmt::format(".TP\n.B \"{}\"\n{}\n", roff(line.substr(a + 1, b - a - 1)),
                           roff(line.substr(b + 1)));
    }
    return out;
}

void expect_in_page(const char *section, const std::string &want)
{
    const std::string path = std::string(BLKTAG_SOURCE_DIR) + "/man/tagtop.8";
    std::string page = slurp(path);
    const std::string begin = fmt::format(".\\\" begin {}\n", section);
    const size_t from = page.find(begin);
    const size_t to = page.find(fmt::format(".\\\" end {}\n", section));
    ASSERT_NE(from, std::string::npos);
    ASSERT_NE(to, std::string::npos);
    const size_t start = from + begin.size();
    if (std::getenv("BLKTAG_NEW_FRAMES")) {
        page.replace(start, to - start, want);
        std::ofstream(path) << page;
        return;
    }
    EXPECT_EQ(page.substr(start, to - start), want) << section;
}

TEST(Manual, has_the_programs_keys_and_fields)
{
    expect_in_page("KEYS", roff_keys());
    expect_in_page("FIELDS", roff_fields());
}

TEST(Screens, too_small_says_what_it_needs)
{
    const std::string text = view::draw(screen(), {}, {39, 9}).text();
    EXPECT_NE(text.find("40x10"), std::string::npos) << text;
    EXPECT_NE(text.find("39x9"), std::string::npos) << text;
}

TEST(Screens, starting_is_told)
{
    const std::string text = view::draw({}, {}, {80, 24}).text();
    EXPECT_NE(text.find("starting"), std::string::npos) << text;
}

// Nothing behind a RecordSource can tell a file from a session.
TEST(Screens, live_feeding_of_the_same_records_gives_the_same)
{
    const view::Replay::Opener pieces =
        []() -> std::expected<std::unique_ptr<RecordSource>, Error> {
        return std::make_unique<PieceSource>();
    };
    for (const uint64_t position_ns :
         {500'000'000ULL, 1'500'000'000ULL, 2'000'000'000ULL, 3'000'000'000ULL}) {
        const view::Screen from_file = play(file_opener(), position_ns);
        const view::Screen fed = play(pieces, position_ns);
        for (size_t i = 0; i < view::nr_views; ++i)
            for (const Look &look : looks) {
                const view::UiState state = state_for(static_cast<ViewId>(i), look.ascii);
                EXPECT_EQ(view::draw(from_file, state, look.size).text(),
                          view::draw(fed, state, look.size).text())
                    << position_ns << " " << look.name;
            }
    }
}

TEST(Replaying, a_jump_ends_where_playing_does)
{
    auto replay = view::Replay::open(file_opener());
    ASSERT_TRUE(replay);
    view::Looks jumped;
    ASSERT_TRUE(replay->seek(2'500'000'000)); // beyond, and back again
    ASSERT_TRUE(replay->seek(1'500'000'000));
    jumped.push(std::make_shared<const Snapshot>(replay->snapshot()));
    ASSERT_TRUE(replay->step(500'000'000));
    jumped.push(std::make_shared<const Snapshot>(replay->snapshot()));
    view::Screen at = jumped.screen();
    at.status = screen().status;
    for (size_t i = 0; i < view::nr_views; ++i) {
        if (static_cast<ViewId>(i) == ViewId::latency)
            continue; // its heat map shows what was played
        const view::UiState state = state_for(static_cast<ViewId>(i), false);
        EXPECT_EQ(view::draw(at, state, {132, 50}).text(),
                  view::draw(screen(), state, {132, 50}).text());
    }
}

// Selection stays with its object when the order changes.
TEST(Keys, selection_follows_the_object)
{
    view::UiState state;
    const Size size{132, 50};
    for (int i = 0; i < 3; ++i)
        view::press(state, view::key_down, screen(), size);
    const std::string selected = state.table().selected;
    ASSERT_FALSE(selected.empty());
    view::press(state, '>', screen(), size);
    view::press(state, 'r', screen(), size);
    EXPECT_EQ(state.table().selected, selected);
}

TEST(Keys, enter_on_a_header_explains_the_column)
{
    view::UiState state;
    const Size size{80, 24};
    view::press(state, view::key_up, screen(), size);
    ASSERT_TRUE(state.table().in_header);
    view::press(state, view::key_right, screen(), size);
    view::press(state, view::key_enter, screen(), size);
    EXPECT_EQ(state.mode, view::Mode::popup);
    EXPECT_FALSE(state.popup.empty());
}

TEST(Keys, each_is_bound_once)
{
    std::vector<uint32_t> keys;
    for (const view::Binding &binding : view::bindings())
        for (const uint32_t key : binding.keys)
            if (key != 0)
                keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

// Ten thousand steps of anything: nothing may break, whatever is pressed at whatever size.
TEST(Keys, random_ones_at_random_sizes)
{
    std::mt19937_64 random(20260101);
    const std::vector<view::Screen> screens{screen(), play(file_opener(), 0),
                                            play(file_opener(), 3'000'000'000), view::Screen{}};
    std::vector<uint32_t> keys;
    for (const view::Binding &binding : view::bindings())
        keys.insert(keys.end(), std::begin(binding.keys), std::end(binding.keys));
    for (const char c : std::string("sort view filter seek 12.5s nvme\\\x7f"))
        keys.push_back(static_cast<unsigned char>(c));
    view::UiState state;
    Size size{80, 24};
    size_t at = 0;
    for (int step = 0; step < 10'000; ++step) {
        if (random() % 5 == 0)
            size = {static_cast<int>(random() % 200), static_cast<int>(random() % 60)};
        if (random() % 20 == 0)
            at = random() % screens.size();
        if (random() % 10 == 0)
            view::click(state, static_cast<int>(random() % 200), static_cast<int>(random() % 60),
                        screens[at], size);
        view::press(state, keys[random() % keys.size()], screens[at], size);
        const view::Frame frame = view::draw(screens[at], state, size);
        ASSERT_EQ(frame.width(), size.width);
        ASSERT_EQ(frame.height(), size.height);
    }
}

} // namespace
