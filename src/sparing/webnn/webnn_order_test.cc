// Ordering, concurrency and errors that travel with tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sparing/webnn/impl.h"
#include "sparing/webnn/webnn_test_util.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;

ContextOptions with_streams(int streams) {
  ContextOptions options;
  options.threads = streams;
  options.streams = streams;
  return options;
}

class Order : public ::testing::Test {
 protected:
  explicit Order(int streams = 2) {
    std::map<std::string, FakeGraph> graphs;
    graphs["plus1"] = step_graph(1);
    graphs["plus10"] = step_graph(10);
    graphs["held"] = step_graph(100, [this]() -> Status {
      gate_.pass();
      return {};
    });
    graphs["fails"] = step_graph(0, []() -> Status {
      return Error{ErrorCode::kInternal, "engine", "out of order", "repair it"};
    });
    graphs["throws"] = step_graph(0, []() -> Status { throw std::runtime_error("thrown"); });
    context_ = create_fake_context(with_streams(streams), graphs).value();
    for (const auto& [name, graph] : graphs) graphs_[name] = context_.load_graph(name).value();
  }
  ~Order() override { gate_.open(); }

  Completion run(const std::string& graph, const Tensor& x, const Tensor& y) {
    auto completion = context_.dispatch(graphs_.at(graph), {{"x", x}}, {{"y", y}});
    EXPECT_TRUE(completion.ok());
    return completion.value();
  }
  Tensor make(std::int32_t value = 0) {
    const Tensor tensor = make_int(context_);
    EXPECT_TRUE(write_int(context_, tensor, value).ok());
    return tensor;
  }
  std::int32_t read(const Tensor& tensor) { return read_int(context_, tensor).value(); }

  // Runs `work` on a thread and checks that it has not ended before the gate opens.
  template <class F>
  void expect_waits_for_gate(F work) {
    std::atomic<bool> ended{false};
    std::thread thread([&] {
      work();
      ended = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(ended);
    gate_.open();
    thread.join();
    EXPECT_TRUE(ended);
  }

  Gate gate_;
  Context context_;
  std::map<std::string, Graph> graphs_;
};

class OneStream : public Order {
 protected:
  OneStream() : Order(1) {}
};

TEST_F(Order, ChainsFollowTheCalls) {
  const Tensor a = make(5), b = make(), c = make();
  run("plus1", a, b);
  run("plus10", b, c);
  run("plus1", c, a);  // a is an input of the first
  EXPECT_EQ(read(a), 17);
  EXPECT_EQ(read(b), 6);
  EXPECT_EQ(read(c), 16);
}

TEST_F(Order, DispatchReturnsAtOnce) {
  const Tensor a = make(1), b = make(), c = make();
  const Completion held = run("held", a, b);
  const Completion next = run("plus1", b, c);
  gate_.wait_inside(1);
  EXPECT_FALSE(held.done());
  EXPECT_FALSE(next.done());
  EXPECT_EQ(held.inference_seconds(), 0);
  gate_.open();
  ASSERT_TRUE(next.wait().ok());
  EXPECT_TRUE(held.done());
  EXPECT_TRUE(held.wait().ok());
  EXPECT_GT(held.inference_seconds(), 0);
  EXPECT_EQ(read(c), 102);
}

TEST_F(Order, ReadWaitsForTheDispatchIntoTheTensor) {
  const Tensor a = make(1), b = make();
  run("held", a, b);
  expect_waits_for_gate([&] { EXPECT_EQ(read(b), 101); });
}

TEST_F(Order, WriteWaitsForADispatchThatReadsTheTensor) {
  const Tensor a = make(1), b = make();
  run("held", a, b);
  expect_waits_for_gate([&] { EXPECT_TRUE(write_int(context_, a, 7).ok()); });
  EXPECT_EQ(read(b), 101);
  EXPECT_EQ(read(a), 7);
}

TEST_F(Order, ReadDoesNotWaitForADispatchThatOnlyReads) {
  const Tensor a = make(1), b = make();
  run("held", a, b);
  gate_.wait_inside(1);
  EXPECT_EQ(read(a), 1);
  EXPECT_EQ(gate_.inside(), 1);
}

TEST_F(Order, OtherTensorsDoNotWait) {
  const Tensor a = make(1), b = make(), c = make(3), d = make();
  run("held", a, b);
  gate_.wait_inside(1);
  EXPECT_TRUE(run("plus1", c, d).wait().ok());
  EXPECT_EQ(read(d), 4);
  EXPECT_EQ(gate_.inside(), 1);
}

TEST_F(Order, StreamsRunTogether) {
  const Tensor a = make(1), b = make(), c = make(2), d = make();
  run("held", a, b);
  run("held", c, d);
  gate_.wait_inside(2);  // hangs if they did not
  gate_.open();
  EXPECT_EQ(read(b), 101);
  EXPECT_EQ(read(d), 102);
}

TEST_F(OneStream, RunsInOrderOfTheCalls) {
  std::vector<Tensor> outputs;
  const Tensor a = make(1);
  outputs.push_back(make());
  std::vector<Completion> completions{run("held", a, outputs.back())};
  for (int i = 0; i < 20; ++i) {
    outputs.push_back(make());
    completions.push_back(run("plus1", a, outputs.back()));
  }
  gate_.wait_inside(1);
  for (const Completion& completion : completions) EXPECT_FALSE(completion.done());
  gate_.open();
  ASSERT_TRUE(completions.back().wait().ok());
  for (const Completion& completion : completions) EXPECT_TRUE(completion.done());
}

TEST_F(Order, VisitHoldsLaterDispatchesBack) {
  const Tensor a = make(1), b = make(50);
  Completion completion;
  ASSERT_TRUE(context_
                  .visit_tensor(b,
                                [&](std::span<const std::byte> bytes) {
                                  completion = run("plus1", a, b);
                                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                  std::int32_t value = 0;
                                  std::memcpy(&value, bytes.data(), sizeof value);
                                  EXPECT_EQ(value, 50);
                                  EXPECT_FALSE(completion.done());
                                })
                  .ok());
  EXPECT_TRUE(completion.wait().ok());
  EXPECT_EQ(read(b), 2);
}

TEST_F(Order, VisitGivesTheMemoryThatGraphsWrote) {
  const Tensor a = make(1), b = make();
  run("plus1", a, b);
  ASSERT_TRUE(context_
                  .visit_tensor(b,
                                [&](std::span<const std::byte> bytes) {
                                  EXPECT_EQ(bytes.data(), b.impl()->memory.data());
                                })
                  .ok());
}

TEST_F(Order, CallsThatWouldWaitForTheirOwnVisitAreRefused) {
  const Tensor a = make(1), b = make(), c = make(9);
  const auto refused = [](const auto& result) {
    return !result.ok() && result.error().code == ErrorCode::kInvalidArgument &&
           result.error().to_string().find("visit_tensor") != std::string::npos;
  };
  ASSERT_TRUE(context_
                  .visit_tensor(a,
                                [&](auto) {
                                  EXPECT_TRUE(read_int(context_, a).ok());
                                  EXPECT_TRUE(refused(write_int(context_, a, 2)));
                                  EXPECT_TRUE(write_int(context_, c, 3).ok());
                                  run("plus1", c, a);  // waits for the visit
                                  run("plus1", a, b);  // waits for that
                                  EXPECT_TRUE(refused(read_int(context_, a)));
                                  EXPECT_TRUE(refused(read_int(context_, b)));
                                  EXPECT_TRUE(refused(write_int(context_, c, 4)));
                                })
                  .ok());
  EXPECT_EQ(read(b), 5);
  EXPECT_TRUE(write_int(context_, a, 2).ok());
}

TEST_F(Order, VisitsOfTwoThreadsThatWouldWaitForEachOther) {
  const Tensor a = make(1), b = make(2);
  std::promise<void> first_inside, second_inside;
  std::atomic<int> refusals{0};
  const auto visit = [&](const Tensor& own, const Tensor& other, std::promise<void>& here,
                         std::future<void> there) {
    ASSERT_TRUE(context_
                    .visit_tensor(own,
                                  [&](auto) {
                                    here.set_value();
                                    there.wait();
                                    if (!write_int(context_, other, 3).ok()) ++refusals;
                                  })
                    .ok());
  };
  std::thread thread([&] { visit(a, b, first_inside, second_inside.get_future()); });
  visit(b, a, second_inside, first_inside.get_future());
  thread.join();
  EXPECT_EQ(refusals, 1);  // one gives way, the other waits for it
}

TEST_F(Order, AnExceptionOfTheVisitorPassesThrough) {
  const Tensor a = make(1);
  EXPECT_THROW(
      static_cast<void>(context_.visit_tensor(a, [](auto) { throw std::runtime_error("mine"); })),
      std::runtime_error);
  EXPECT_TRUE(write_int(context_, a, 2).ok());
  EXPECT_EQ(read(a), 2);
}

TEST_F(Order, DestroyWaitsForQueuedWork) {
  Tensor a = make(1);
  const Tensor b = make();
  const Completion completion = run("held", a, b);
  a.destroy();
  EXPECT_FALSE(context_.dispatch(graphs_.at("plus1"), {{"x", a}}, {{"y", b}}).ok());
  gate_.wait_inside(1);
  EXPECT_NE(a.impl()->memory.data(), nullptr);
  gate_.open();
  EXPECT_TRUE(completion.wait().ok());
  EXPECT_EQ(read(b), 101);
  context_ = Context();  // ends what is queued, destroy() included
  EXPECT_EQ(a.impl()->memory.data(), nullptr);
}

TEST_F(Order, TensorsMayBeDroppedWhileQueued) {
  const Tensor out = make();
  std::weak_ptr<webnn::TensorImpl> weak;
  {
    const Tensor a = make(1), b = make();
    weak = b.impl();
    run("held", a, b);
    run("plus1", b, out);
  }
  EXPECT_FALSE(weak.expired());
  gate_.open();
  EXPECT_EQ(read(out), 102);
  EXPECT_TRUE(weak.expired());
}

TEST_F(Order, TheContextEndsItsWorkBeforeItGoes) {
  const Tensor a = make(1), b = make(), c = make();
  run("plus1", a, b);
  const Completion completion = run("plus1", b, c);
  graphs_.clear();
  context_ = Context();
  EXPECT_TRUE(completion.done());
  EXPECT_TRUE(completion.wait().ok());
  Tensor left = c;
  left.destroy();  // must not need the context
  EXPECT_EQ(left.impl()->memory.data(), nullptr);
}

TEST_F(Order, FailuresReachTheCompletionAndTheTensor) {
  for (const auto& [graph, part] : {std::pair{"fails", "out of order"}, {"throws", "thrown"}}) {
    const Tensor a = make(1), b = make(2);
    const Status status = run(graph, a, b).wait();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kInternal);
    EXPECT_THAT(status.error().to_string(), HasSubstr(part));
    const auto value = read_int(context_, b);
    ASSERT_FALSE(value.ok());
    EXPECT_EQ(value.error().to_string(), status.error().to_string());
    EXPECT_EQ(read(a), 1);
    // Later dispatches that need b fail alike; those that write it set it right.
    const Tensor c = make();
    EXPECT_EQ(run("plus1", b, c).wait().error().to_string(), status.error().to_string());
    EXPECT_FALSE(read_int(context_, c).ok());
    EXPECT_TRUE(run("plus1", a, b).wait().ok());
    EXPECT_EQ(read(b), 2);
    EXPECT_TRUE(write_int(context_, c, 8).ok());
    EXPECT_EQ(read(c), 8);
  }
}

TEST_F(Order, TheQueueIsBounded) {
  const Tensor a = make(1), b = make();
  run("held", a, b);
  int queued = 1;
  Status status;
  while (status.ok() && queued < 5000) {
    auto completion = context_.dispatch(graphs_.at("plus1"), {{"x", a}}, {{"y", b}});
    if (!completion.ok()) {
      status = completion.error();
    } else {
      ++queued;
    }
  }
  EXPECT_EQ(queued, static_cast<int>(webnn::Scheduler::kMaxQueued));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().to_string(), HasSubstr("wait for a completion"));
  gate_.open();
  EXPECT_EQ(read(b), 2);
  EXPECT_TRUE(context_.dispatch(graphs_.at("plus1"), {{"x", a}}, {{"y", b}}).ok());
}

// Many threads, few tensors: each thread's own chain must come out as if it ran alone, and shared
// tensors must never be seen half written.
TEST(OrderStress, ManyThreads) {
  constexpr int kThreads = 8, kRounds = 300;
  FakeGraph mix;  // both words of y become x's
  mix.inputs = {{"x", {DataType::kInt32, {64}}}};
  mix.outputs = {{"y", {DataType::kInt32, {64}}}};
  mix.run = [](const auto& inputs, const auto& outputs) -> Status {
    std::memcpy(outputs.at("y").bytes.data(), inputs.at("x").bytes.data(), 256);
    return {};
  };
  Context context =
      create_fake_context(with_streams(3), {{"plus1", step_graph(1)}, {"mix", mix}}).value();
  const Graph plus1 = context.load_graph("plus1").value();
  const Graph copy = context.load_graph("mix").value();
  std::vector<Tensor> shared;
  for (int i = 0; i < 3; ++i) {
    shared.push_back(context.create_tensor({DataType::kInt32, {64}, true, true}).value());
  }
  const auto work = [&](int seed) {
    Context own = context;
    std::mt19937 random(static_cast<unsigned>(seed));
    const Tensor a = make_int(own), b = make_int(own);
    std::int32_t expected = 0;
    for (int round = 0; round < kRounds; ++round) {
      // The private chain, without waiting.
      ASSERT_TRUE(own.dispatch(plus1, {{"x", a}}, {{"y", b}}).ok());
      ASSERT_TRUE(own.dispatch(plus1, {{"x", b}}, {{"y", a}}).ok());
      expected += 2;
      const Tensor& one = shared[random() % 3];
      const Tensor& other = shared[random() % 3];
      switch (random() % 4) {
        case 0: {
          const std::vector<std::int32_t> values(64, seed * kRounds + round);
          ASSERT_TRUE(own.write_tensor(one, std::as_bytes(std::span(values))).ok());
          break;
        }
        case 1:
          if (one.impl() == other.impl()) break;
          ASSERT_TRUE(own.dispatch(copy, {{"x", one}}, {{"y", other}}).ok());
          break;
        case 2: {
          std::vector<std::int32_t> values(64);
          ASSERT_TRUE(own.read_tensor(one, std::as_writable_bytes(std::span(values))).ok());
          for (const std::int32_t value : values) ASSERT_EQ(value, values[0]);
          break;
        }
        default: ASSERT_EQ(read_int(own, a).value(), expected);
      }
    }
    ASSERT_EQ(read_int(own, a).value(), expected);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sparing
