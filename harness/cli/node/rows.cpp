#include "harness/cli/node/rows.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "harness/results/doubts.hpp"
#include "harness/results/record.hpp"
#include "roofline/json_text.hpp"

namespace ridgebench::node {
namespace {

using Records = std::map<std::string, Record>;  // by id without @device

// `moved` gets the number of ceilings whose controls moved.
Records read_pass(const NodeRun& run, const GpuPass& pass, std::ptrdiff_t& moved) {
  Records found;
  try {
    const std::string folder = (run.folder / pass.folder).string();
    std::vector<Record> records = read_records(folder);
    const Doubts doubts = read_standing(folder, records).doubts;
    moved = std::ranges::count_if(doubts.controls, &Control::moved);
    for (Record& record : records) {
      // A row that is wrong by the bits of a multiprocessor has a vote, and no time.
      const bool votes = record.status == Status::ok || record.fingerprint.has_value();
      if (record.role == Role::control || !votes) continue;
      found.emplace(record.id.substr(0, record.id.rfind('@')), std::move(record));
    }
  } catch (const std::exception&) {  // node.json says why the pass ended
    found.clear();
  }
  return found;
}

bool is_power_capped(const Record& record) {
  const auto events = record.telemetry.value("clock_events", std::vector<std::string>());
  return std::ranges::find(events, "sw_power_cap") != events.end();
}

template <class Value>
std::optional<double> median_over(const Records& records, const Value& value_of) {
  std::vector<double> values;
  for (const auto& [id, record] : records) {
    if (const std::optional<double> value = value_of(record)) values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

Readings readings_of(const Records& records) {
  const auto telemetry = [&](const char* key) {
    return median_over(records, [=](const Record& r) { return r.telemetry_median(key); });
  };
  return {.clock_hz = median_over(records, [](const Record& r) { return r.clock_hz; }),
          .power_w = telemetry("power_w"),
          .temperature_c = telemetry("temperature_c")};
}

// Judges the GPUs of each model among themselves.
std::vector<std::optional<PeerRatio>> peer_ratios_by_model(
    const NodeRun& run, const std::vector<std::optional<double>>& rates) {
  std::vector<std::optional<PeerRatio>> all(rates.size());
  std::set<std::string> models;
  for (const Gpu& gpu : run.gpus) models.insert(json_line(gpu.facts.at("model")));
  for (const std::string& model : models) {
    std::vector<std::optional<double>> of_model = rates;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (json_line(run.gpus[i].facts.at("model")) != model) of_model[i].reset();
    }
    const auto found = peer_ratios(of_model);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (found[i]) all[i] = found[i];
    }
  }
  return all;
}

PassOfRow pass_of_row(const NodeRun& run, const std::vector<Records>& gpus, const std::string& id) {
  std::vector<const Record*> records;
  for (const Records& gpu : gpus) {
    const auto found = gpu.find(id);
    records.push_back(found == gpu.end() ? nullptr : &found->second);
  }
  const auto known = std::ranges::count_if(records, [](const Record* r) { return r != nullptr; });
  const auto capped = std::ranges::count_if(
      records, [](const Record* r) { return r != nullptr && is_power_capped(*r); });
  const bool cycles = std::ranges::all_of(
      records, [](const Record* r) { return r == nullptr || r->cycles_median; });
  PassOfRow pass{.rates = {}, .peer_ratios = {}, .in_cycles = 2 * capped > known && cycles};
  for (const Record* record : records) {
    pass.rates.emplace_back();
    if (record == nullptr || !record->time) continue;
    pass.rates.back() = 1 / (pass.in_cycles ? *record->cycles_median : record->time->median);
  }
  pass.peer_ratios = peer_ratios_by_model(run, pass.rates);
  return pass;
}

}  // namespace

std::optional<double> RowOfNode::loaded_over_isolated(std::size_t gpu) const {
  const auto& alone = at(Pass::isolated);
  const auto& loaded = at(Pass::loaded);
  const bool comparable = alone.in_cycles == loaded.in_cycles;
  if (!comparable || !alone.rates[gpu] || !loaded.rates[gpu]) return std::nullopt;
  return *loaded.rates[gpu] / *alone.rates[gpu];
}

RowsOfNode read_rows(const NodeRun& run) {
  std::array<std::vector<Records>, kPasses.size()> records;
  std::set<std::string> ids;
  RowsOfNode all;
  for (const Pass pass : kPasses) {
    auto& of_pass = records[static_cast<std::size_t>(pass)];
    for (const Gpu& gpu : run.gpus) {
      std::ptrdiff_t& moved = all.moved[static_cast<std::size_t>(pass)].emplace_back(0);
      of_pass.push_back(read_pass(run, gpu.at(pass), moved));
      for (const auto& [id, record] : of_pass.back()) ids.insert(id);
    }
  }
  for (const std::string& id : ids) {
    RowOfNode row{.id = id, .passes = {}};
    for (const Pass pass : kPasses) {
      const auto at = static_cast<std::size_t>(pass);
      row.passes[at] = pass_of_row(run, records[at], id);
    }
    all.rows.push_back(std::move(row));
  }
  std::vector<std::string> models;
  std::vector<std::string> names;
  for (const Gpu& gpu : run.gpus) {
    models.push_back(json_line(gpu.facts.at("model")));
    names.push_back(gpu.device());
  }
  const auto& [isolated, loaded] = records;
  all.odd_bits = find_odd_bits(
      {{std::string(name(Pass::isolated)), &isolated}, {std::string(name(Pass::loaded)), &loaded}},
      models, names);
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    all.readings.push_back(readings_of(loaded[i].empty() ? isolated[i] : loaded[i]));
  }
  return all;
}

}  // namespace ridgebench::node
