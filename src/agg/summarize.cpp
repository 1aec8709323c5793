// SPDX-License-Identifier: GPL-2.0-or-later
// A whole recording at once. Input: RecordSource. Output: Snapshot.
#include "agg/summarize.hpp"

#include "agg/make_snapshot.hpp"

namespace blktag::agg {

std::expected<Snapshot, Error> summarize(RecordSource &source, Window window)
{
    Aggregate aggregate(window);
    aggregate.start(source.info());
    Batch batch;
    while (true) {
        const auto more = source.next(batch);
        if (!more)
            return std::unexpected(more.error());
        if (!*more)
            break;
        aggregate.add(batch);
    }
    const Unusable unusable = source.unusable();
    return make_snapshot(aggregate, {source.info(), source.books(), source.damage(),
                                     unusable.malformed, unusable.unknown});
}

} // namespace blktag::agg
