// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and evaluates formulas in one pass, by recursive descent. Input: text, facts. Output: see
// formula.hpp.
#include "formula.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <vector>

namespace taglab {

namespace {

using Value = std::optional<double>;

constexpr int max_depth = 64;

bool part_matches(std::string_view pattern, std::string_view part)
{
    return pattern == "*" || pattern == part;
}

// Splits at the dots; a name's parts hold none.
bool name_matches(std::string_view pattern, std::string_view name)
{
    while (true) {
        const size_t a = pattern.find('.');
        const size_t b = name.find('.');
        if (!part_matches(pattern.substr(0, a), name.substr(0, b)))
            return false;
        if (a == std::string_view::npos || b == std::string_view::npos)
            return a == b;
        pattern.remove_prefix(a + 1);
        name.remove_prefix(b + 1);
    }
}

std::vector<double> all_of(std::string_view pattern, const Facts &facts)
{
    const std::string_view prefix = pattern.substr(0, pattern.find('*'));
    std::vector<double> out;
    for (auto at = facts.lower_bound(prefix);
         at != facts.end() && std::string_view(at->first).starts_with(prefix); ++at)
        if (name_matches(pattern, at->first))
            out.push_back(at->second);
    return out;
}

Value reduce(std::string_view function, const std::vector<double> &values)
{
    if (function == "count")
        return static_cast<double>(values.size());
    if (values.empty())
        return std::nullopt;
    if (function == "max")
        return *std::ranges::max_element(values);
    if (function == "min")
        return *std::ranges::min_element(values);
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum;
}

class Parser {
  public:
    Parser(std::string_view text, const Facts &facts) : text_(text), facts_(facts) {}

    Value all()
    {
        const Value value = sum(0);
        skip();
        if (error_.empty() && at_ != text_.size())
            fail("what is this");
        return value;
    }
    [[nodiscard]] const std::string &error() const { return error_; }

  private:
    Value sum(int depth)
    {
        Value left = product(depth);
        while (error_.empty()) {
            const char op = take("+-");
            if (op == 0)
                break;
            const Value right = product(depth);
            if (left && right)
                left = op == '+' ? *left + *right : *left - *right;
            else
                left.reset();
        }
        return left;
    }

    Value product(int depth)
    {
        Value left = atom(depth);
        while (error_.empty()) {
            const char op = take("*/");
            if (op == 0)
                break;
            const Value right = atom(depth);
            if (!left || !right || (op == '/' && *right == 0))
                left.reset();
            else
                left = op == '*' ? *left * *right : *left / *right;
        }
        return left;
    }

    Value atom(int depth)
    {
        if (depth > max_depth)
            return fail("nested too deeply");
        if (take("(") != 0) {
            const Value inside = sum(depth + 1);
            if (take(")") == 0)
                return fail("a ) is missing");
            return inside;
        }
        skip();
        if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
            return number();
        const std::string_view name = word(false);
        if (name.empty())
            return fail("a name or number is missing");
        if (take("(") != 0)
            return function(name);
        const auto found = facts_.find(name);
        return found == facts_.end() ? Value() : Value(found->second);
    }

    Value number()
    {
        double value = 0;
        const auto [end, errc] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (errc != std::errc())
            return fail("no number");
        at_ = static_cast<size_t>(end - text_.data());
        return value;
    }

    Value function(std::string_view name)
    {
        if (name != "sum" && name != "max" && name != "min" && name != "count")
            return fail("no such function");
        skip();
        const std::string_view pattern = word(true);
        if (pattern.empty() || take(")") == 0)
            return fail("a function takes one name, with * for any one part");
        return reduce(name, all_of(pattern, facts_));
    }

    // Names may hold what disks are called: letters, digits and _ . # : @
    std::string_view word(bool stars)
    {
        skip();
        const size_t begin = at_;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                std::string_view("_.#:@").find(text_[at_]) != std::string_view::npos ||
                (stars && text_[at_] == '*')))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    void skip()
    {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
    }

    char take(std::string_view any)
    {
        skip();
        if (at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos)
            return text_[at_++];
        return 0;
    }

    Value fail(std::string_view why)
    {
        if (error_.empty())
            error_ = fmt::format("{} at character {}", why, at_ + 1);
        return std::nullopt;
    }

    std::string_view text_;
    const Facts &facts_;
    size_t at_ = 0;
    std::string error_;
};

} // namespace

std::expected<void, blktag::Error> check_formula(std::string_view formula)
{
    const Facts none;
    Parser parser(formula, none);
    parser.all();
    if (parser.error().empty())
        return {};
    return std::unexpected(
        blktag::Error{fmt::format("formula '{}': {}", formula, parser.error()), ""});
}

std::optional<double> evaluate(std::string_view formula, const Facts &facts)
{
    Parser parser(formula, facts);
    const Value value = parser.all();
    return parser.error().empty() ? value : std::nullopt;
}

} // namespace taglab
