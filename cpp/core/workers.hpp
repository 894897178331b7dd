// Workers: threads that live for one call and share out numbered jobs.
//
// The calling thread works too, and asks between its jobs, and while it waits, whether it should
// stop. A failure in any job stops the others and is thrown to the caller.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sortal {

class Workers {
  public:
    // `poll` is called by the calling thread only, and throws to stop the work.
    Workers(int n_threads, std::function<void()> poll)
        : n_threads_(n_threads < 1 ? 1 : n_threads), poll_(std::move(poll)) {}

    ~Workers() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        wake_.notify_all();
        for (auto& thread : threads_) thread.join();
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    int size() const { return n_threads_; }

    // To be called now and then within a long job: throws where the work is to stop.
    void check(int worker) {
        if (worker == 0) poll_();
        if (stopped_.load(std::memory_order_relaxed)) throw Stopped{};
    }

    // job(j, worker) for j = 0 .. n_jobs - 1, in any order; worker < size().
    void run(std::int64_t n_jobs, const std::function<void(std::int64_t, int)>& job) {
        if (n_threads_ == 1 || n_jobs < 2) {
            for (std::int64_t j = 0; j < n_jobs; ++j) {
                poll_();
                job(j, 0);
            }
            return;
        }
        start();
        {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            n_jobs_ = n_jobs;
            next_ = 0;
            busy_ = n_threads_ - 1;
            failure_ = nullptr;
            stopped_ = false;
            ++round_;
        }
        wake_.notify_all();
        work(0);
        wait_for_others();
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    struct Stopped {};

    void wait_for_others() {
        std::unique_lock lock(mutex_);
        const auto over = [this] { return busy_ == 0; };
        while (!done_.wait_for(lock, std::chrono::milliseconds(50), over)) {
            lock.unlock();
            try {
                if (!stopped_) poll_();
            } catch (...) {
                stop_for(std::current_exception());
            }
            lock.lock();
        }
    }
    void stop_for(std::exception_ptr failure) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = failure;
        stopped_ = true;
        next_ = n_jobs_;
    }
    // Where the system refuses a thread, those that there are do the work.
    void start() {
        try {
            for (int t = static_cast<int>(threads_.size()) + 1; t < n_threads_; ++t) {
                threads_.emplace_back([this, t] { wait_for_rounds(t); });
            }
        } catch (const std::system_error&) {
            n_threads_ = static_cast<int>(threads_.size()) + 1;
        }
    }
    void wait_for_rounds(int worker) {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return over_ || round_ != seen; });
            if (over_) return;
            seen = round_;
            lock.unlock();
            work(worker);
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }
    void work(int worker) {
        try {
            for (std::int64_t j = next_++; j < n_jobs_; j = next_++) {
                if (worker == 0) poll_();
                (*job_)(j, worker);
            }
        } catch (...) {
            stop_for(std::current_exception());
        }
    }

    int n_threads_;
    std::function<void()> poll_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::exception_ptr failure_;
    const std::function<void(std::int64_t, int)>* job_ = nullptr;
    std::atomic<std::int64_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::int64_t n_jobs_ = 0;
    std::uint64_t round_ = 0;
    int busy_ = 0;
    bool over_ = false;
};

}  // namespace sortal
