#pragma once
// Weighted robust least squares by Levenberg and Marquardt on Eigen, with a numeric Jacobian.

#include <Eigen/Dense>

#include <functional>

namespace gpuplan {

/// Minimises Σ weight · huber(residual(x)) + pull · |x − start|². Deterministic.
/// @param residuals  of all rows at x; finite
Eigen::VectorXd robust_least_squares(const std::function<Eigen::VectorXd(const Eigen::VectorXd&)>& residuals,
                                     const Eigen::VectorXd& weights, const Eigen::VectorXd& start, double pull);

}  // namespace gpuplan
