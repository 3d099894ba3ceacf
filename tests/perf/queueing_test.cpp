#include "catch.hpp"

#include <gpuplan/perf/queueing.hpp>

using namespace gpuplan;

TEST_CASE("queue: Erlang's share of requests that wait", "[perf]") {
  // One server: the share of time that it is busy.
  CHECK(waiting_share(1, 0.5) == Approx(0.5));
  // Two servers, one busy in the mean: (1/2) / (1 - 1/2) / (1 + 1 + (1/2) / (1 - 1/2)) = 1/3.
  CHECK(waiting_share(2, 1) == Approx(1.0 / 3));
  // Three servers, two busy: a^3/3! · 3/(3 - 2) = 4 over 1 + 2 + 2 + 4: 4/9.
  CHECK(waiting_share(3, 2) == Approx(4.0 / 9));
  CHECK(waiting_share(4, 0) == 0);
  CHECK(waiting_share(4, 4) == 1);
  // Many servers: no factorial overflows, and with half of them free nobody waits.
  CHECK(waiting_share(1000, 500) < 1e-9);
}

TEST_CASE("queue: the mean wait", "[perf]") {
  // M/M/1: load / (1 - load) times the service: 0.8 / 0.2 = 4.
  CHECK(mean_wait(1, 0.8, seconds(2)).base() == Approx(8));
  CHECK(mean_wait(2, 1, seconds(3)).base() == Approx(1));  // a third of the requests, over one free server
  CHECK(mean_wait(16, 0, seconds(3)).base() == 0);
}
