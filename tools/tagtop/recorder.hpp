// SPDX-License-Identifier: GPL-2.0-or-later
// Key "a": a recording of its own beside the live session, on its own thread. Input: capture
// options. Output: a trace file in the current folder.
#pragma once

#include "capture/capture.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

namespace tagtop {

// Used from the drawing thread. Ends the recording whole when it is destroyed.
class Recorder {
  public:
    explicit Recorder(blktag::capture::Options options);
    ~Recorder();
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;

    // The file, empty where no recording runs. `failure` is filled in once, when one has failed.
    std::string running(std::string &failure);
    void start(uint64_t now_real_ns);
    // Waits for the end; returns what is to be said.
    std::string stop();

  private:
    void work();
    std::string record();

    blktag::capture::Options options_;
    std::string file_;
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::string result_;
    bool ended_ = false;
    std::thread thread_;
};

} // namespace tagtop
