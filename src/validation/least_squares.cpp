#include "least_squares.hpp"

#include <cmath>

namespace gpuplan {
namespace {

constexpr double kLinearFrom = 0.3;  // of Huber's loss: beyond, a residual pulls no harder

double loss_of(const Eigen::VectorXd& r, const Eigen::VectorXd& weights) {
  double sum = 0;
  for (Eigen::Index i = 0; i < r.size(); ++i) {
    const double size = std::abs(r(i));
    sum += weights(i) * (size <= kLinearFrom ? size * size / 2 : kLinearFrom * (size - kLinearFrom / 2));
  }
  return sum;
}

// Huber's loss as a weighted square (iteratively reweighted least squares).
Eigen::VectorXd reweighted(const Eigen::VectorXd& r, const Eigen::VectorXd& weights) {
  Eigen::VectorXd w = weights;
  for (Eigen::Index i = 0; i < r.size(); ++i) {
    const double size = std::abs(r(i));
    if (size > kLinearFrom) w(i) *= kLinearFrom / size;
  }
  return w;
}

}  // namespace

Eigen::VectorXd robust_least_squares(const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& residuals,
                                     const Eigen::VectorXd& weights, const Eigen::VectorXd& start, double pull) {
  constexpr int kIterations = 100;
  constexpr double kStep = 1e-4;
  Eigen::VectorXd x = start;
  Eigen::VectorXd r = residuals(x);
  const auto cost_at = [&](const Eigen::VectorXd& at, const Eigen::VectorXd& residual) {
    return loss_of(residual, weights) + pull * (at - start).squaredNorm();
  };
  double cost = cost_at(x, r);
  double damping = 1e-3;
  for (int i = 0; i < kIterations && damping < 1e8; ++i) {
    Eigen::MatrixXd jacobian(r.size(), x.size());
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      Eigen::VectorXd moved = x;
      moved(j) += kStep;
      jacobian.col(j) = (residuals(moved) - r) / kStep;
    }
    const Eigen::VectorXd w = reweighted(r, weights);
    Eigen::MatrixXd normal = jacobian.transpose() * w.asDiagonal() * jacobian;
    normal.diagonal().array() += 2 * pull;
    const Eigen::VectorXd gradient = jacobian.transpose() * w.cwiseProduct(r) + 2 * pull * (x - start);
    bool better = false;
    while (!better && damping < 1e8) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      const Eigen::VectorXd next = x - damped.ldlt().solve(gradient);
      const Eigen::VectorXd at = residuals(next);
      const double there = cost_at(next, at);
      better = std::isfinite(there) && there < cost;
      damping = better ? damping / 4 : damping * 4;
      if (!better) continue;
      const bool done = cost - there < 1e-12 * cost;
      x = next;
      r = at;
      cost = there;
      if (done) return x;
    }
  }
  return x;
}

}  // namespace gpuplan
