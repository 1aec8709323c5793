// SPDX-License-Identifier: GPL-2.0-or-later
// Topology from the recorder's JSON. Input: the text of TraceInfo::topology_json. Output:
// Topology's tables. Fields of the wrong type count as absent; ids may be null until an ident
// record is seen, then name, device number and hctx_num say which is which.
#include "model/topology.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

namespace blktag::model {

namespace {

using nlohmann::json;

constexpr size_t max_pending_queues = 16384;
constexpr size_t max_pending_hctxs =
    65536; // more than any machine has; bounds what a broken file can take

const json *field(const json &object, const char *name)
{
    if (!object.is_object())
        return nullptr;
    const auto it = object.find(name);
    return it == object.end() || it->is_null() ? nullptr : &*it;
}

std::string text_field(const json &object, const char *name)
{
    const json *value = field(object, name);
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<uint32_t> number(const json &value)
{
    if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX)
        return std::nullopt;
    return static_cast<uint32_t>(value.get<uint64_t>());
}

std::optional<uint32_t> number_field(const json &object, const char *name)
{
    const json *value = field(object, name);
    return value ? number(*value) : std::nullopt;
}

uint16_t id_field(const json &object, const char *name)
{
    const auto value = number_field(object, name);
    return value && *value < max_ids ? static_cast<uint16_t>(*value)
                                     : static_cast<uint16_t>(BT_NO_ID);
}

std::vector<std::string> names_field(const json &object, const char *name)
{
    std::vector<std::string> out;
    if (const json *list = field(object, name); list && list->is_array())
        for (const json &item : *list)
            if (item.is_string())
                out.push_back(item.get<std::string>());
    return out;
}

// "259:0" or major << 20 | minor.
uint32_t dev_field(const json &object)
{
    const json *value = field(object, "dev");
    if (!value)
        return 0;
    if (!value->is_string())
        return number(*value).value_or(0);
    const std::string text = value->get<std::string>();
    const size_t colon = text.find(':');
    if (colon == std::string::npos)
        return 0;
    uint32_t major = 0;
    uint32_t minor = 0;
    const char *end = text.data() + text.size();
    const auto a = std::from_chars(text.data(), text.data() + colon, major);
    const auto b = std::from_chars(text.data() + colon + 1, end, minor);
    if (a.ec != std::errc() || b.ec != std::errc() || b.ptr != end || major > 0xfff ||
        minor > 0xfffff)
        return 0;
    return major << 20 | minor;
}

HctxInfo hctx_from(const json &object, uint16_t queue_id)
{
    HctxInfo hctx;
    hctx.id = id_field(object, "hctx_id");
    hctx.queue_id = queue_id;
    hctx.hctx_num = id_field(object, "hctx_num");
    hctx.type = text_field(object, "type");
    hctx.nr_tags = number_field(object, "nr_tags");
    hctx.nr_reserved_tags = number_field(object, "nr_reserved_tags");
    if (const json *cpus = field(object, "cpus"); cpus && cpus->is_array())
        for (const json &cpu : *cpus)
            if (const auto value = number(cpu))
                hctx.cpus.push_back(*value);
    return hctx;
}

QueueInfo queue_from(const json &object)
{
    QueueInfo queue;
    queue.id = id_field(object, "queue_id");
    queue.set_id = id_field(object, "set_id");
    queue.dev = dev_field(object);
    queue.name = text_field(object, "name");
    queue.driver = text_field(object, "driver");
    queue.scheduler = text_field(object, "scheduler");
    queue.nr_requests = number_field(object, "nr_requests");
    queue.async_depth = number_field(object, "async_depth");
    queue.nr_hw_queues = number_field(object, "nr_hw_queues");
    queue.lun_depth = number_field(object, "queue_depth");
    queue.slaves = names_field(object, "slaves");
    queue.holders = names_field(object, "holders");
    return queue;
}

} // namespace

void Topology::take_queue(uint16_t id, const QueueInfo &from_json)
{
    QueueInfo *queue = queue_for(id);
    if (!queue)
        return;
    queue->known = true;
    queue->name = from_json.name;
    queue->driver = from_json.driver;
    queue->scheduler = from_json.scheduler;
    queue->slaves = from_json.slaves;
    queue->holders = from_json.holders;
    if (from_json.dev)
        queue->dev = from_json.dev;
    if (from_json.set_id != BT_NO_ID)
        queue->set_id = from_json.set_id;
    const auto take = [](auto &into, const auto &from) {
        if (from)
            into = from;
    };
    take(queue->nr_requests, from_json.nr_requests);
    take(queue->async_depth, from_json.async_depth);
    take(queue->nr_hw_queues, from_json.nr_hw_queues);
    take(queue->lun_depth, from_json.lun_depth);
}

void Topology::take_hctx(uint16_t id, const HctxInfo &from_json)
{
    HctxInfo *hctx = hctx_for(id);
    if (!hctx)
        return;
    hctx->known = true;
    hctx->queue_id = from_json.queue_id;
    if (from_json.hctx_num != BT_NO_ID)
        hctx->hctx_num = from_json.hctx_num;
    if (!from_json.type.empty())
        hctx->type = from_json.type;
    hctx->cpus = from_json.cpus;
    hctx->nr_tags = from_json.nr_tags;
    hctx->nr_reserved_tags = from_json.nr_reserved_tags;
}

void Topology::settle()
{
    if (!new_ids_ || pending_.empty())
        return;
    new_ids_ = false;
    std::map<uint32_t, uint16_t> queue_of_dev; // the newest living queue of a device
    for (const QueueInfo &queue : queues_)
        if (queue.known && !queue.gone && queue.dev != 0)
            queue_of_dev[queue.dev] = queue.id;
    std::map<std::pair<uint16_t, uint16_t>, uint16_t> hctx_of;
    for (const HctxInfo &hctx : hctxs_)
        if (hctx.known && !hctx.gone)
            hctx_of[{hctx.queue_id, hctx.hctx_num}] = hctx.id;
    bool named = false;
    std::erase_if(pending_, [&](Pending &pending) {
        if (pending.queue.id == BT_NO_ID) {
            const auto it = queue_of_dev.find(pending.queue.dev);
            if (it == queue_of_dev.end())
                return false;
            pending.queue.id = it->second;
            take_queue(it->second, pending.queue);
            named = true;
        }
        const uint16_t id = pending.queue.id;
        std::erase_if(pending.hctxs, [&](HctxInfo &hctx) {
            if (const auto it = hctx_of.find({id, hctx.hctx_num});
                hctx.id == BT_NO_ID && it != hctx_of.end())
                hctx.id = it->second;
            if (hctx.id == BT_NO_ID)
                return false;
            hctx.queue_id = id;
            take_hctx(hctx.id, hctx);
            return true;
        });
        return pending.hctxs.empty();
    });
    if (named)
        number_generations();
}

bool Topology::apply_json(std::string_view text)
{
    const json document = json::parse(text, nullptr, false);
    const json *queues = document.is_discarded() ? nullptr : field(document, "queues");
    if (!queues || !queues->is_array())
        return false;
    pending_.clear(); // a full topology each time
    size_t pending_hctxs = 0;
    for (const json &object : *queues) {
        if (!object.is_object() || pending_.size() >= max_pending_queues)
            return false;
        Pending pending;
        pending.queue = queue_from(object);
        const uint16_t id = pending.queue.id;
        if (id != BT_NO_ID)
            take_queue(id, pending.queue);
        if (const json *hctxs = field(object, "hctxs"); hctxs && hctxs->is_array())
            for (const json &hctx : *hctxs)
                if (hctx.is_object() && pending_hctxs++ < max_pending_hctxs)
                    pending.hctxs.push_back(hctx_from(hctx, id));
        pending_.push_back(std::move(pending));
    }
    number_generations();
    new_ids_ = true;
    settle();
    return true;
}

} // namespace blktag::model
