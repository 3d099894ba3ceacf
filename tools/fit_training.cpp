#include <gpuplan/base/error.hpp>
#include <gpuplan/base/reader.hpp>
#include <gpuplan/catalog/catalog.hpp>
#include <gpuplan/validation/csv.hpp>
#include <gpuplan/validation/errors.hpp>
#include <gpuplan/validation/training_time.hpp>
#include <cmath>
#include <cstdio>
#include <map>
using namespace gpuplan;
int main(int argc, char** argv) {
  const Catalog catalog = load_catalog({{argv[1], Layer::project}});
  const Ceilings ceilings(catalog);
  const auto rows = read_training_time_rows(read_csv(read_text_file(argv[2]), argv[2]), argv[2]);
  std::vector<TrainingRowWork> works;
  std::map<std::string,int> skipped;
  for (const auto& row : rows) {
    auto w = training_row_work(catalog, ceilings, row);
    if (auto* why = std::get_if<std::string>(&w)) skipped[row.source + " " + *why]++;
    else works.push_back(std::move(std::get<TrainingRowWork>(w)));
  }
  for (auto& [k, n] : skipped) std::printf("skipped %d %s\n", n, k.c_str());
  const auto cal = calibrate_training(catalog, works);
  auto show=[](const char* n, const TrainingConstants& c){std::printf("%-20s compute %.3g attention %.3g bandwidth %.3g launch %.3g us hidden %.3g step %.3g ms\n", n, c.compute,c.attention,c.bandwidth,c.launch*1e6,c.hidden,c.step*1e3);};
  show("pooled",cal.pooled);
  for (auto& f : cal.frameworks) if(!f.pooled) show(f.name.c_str(), f.constants);
  std::map<std::string, std::vector<double>> errs, pooled;
  for (auto& w : works) {
    const double r = time_ratio(w, constants_for(cal, *w.framework));
    errs[w.row.source].push_back(r); pooled[w.row.source].push_back(time_ratio(w, cal.pooled));
    if (argc > 3) {
      std::printf("row,%s,%s,%s,%s,%g,%g,%.3f", w.row.id.c_str(), w.row.model.c_str(), w.row.accelerator.c_str(), w.row.metric.c_str(), w.row.value, predicted_value(w, constants_for(cal, *w.framework)), r);
      const auto t = step_terms(w.work, constants_for(cal, *w.framework));
      for (auto& term : t.terms()) std::printf(" %s=%.3f", std::string(term.id).c_str(), term.value/t.total());
      std::printf("\n");
    }
  }
  auto q=[](std::vector<double> v,double p){std::sort(v.begin(),v.end());return v[std::min(v.size()-1,(size_t)(p*v.size()))];};
  for (auto& [s, v] : errs) {
    std::vector<double> e,e2; for(double r: v) e.push_back(std::abs(1/r-1)); for(double r: pooled[s]) e2.push_back(std::abs(1/r-1));
    std::printf("%-28s %4zu med %.3f p90 %.3f ratio %.3f | pooled med %.3f p90 %.3f ratio %.3f\n", s.c_str(), v.size(), q(e,.5), q(e,.9), q(v,.5), q(e2,.5), q(e2,.9), q(pooled[s],.5));
  }
}
