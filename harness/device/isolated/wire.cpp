#include "harness/device/isolated/wire.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace ridgebench::wire {
namespace {

template <NamedEnum E>
E enum_of(const Json& json) {
  return parse<E>(json.get<std::string>());
}

int number_of(Format format) { return static_cast<int>(format); }

Format format_of(const Json& json) {
  const auto number = json.get<std::uint64_t>();
  const auto format = static_cast<Format>(number);
  if (number < kFormats.size() || number == static_cast<std::uint64_t>(Format::fp4_e2m1) ||
      (number <= 0xff && for_operands_only(format))) {
    return format;
  }
  throw std::runtime_error("an unknown format");
}

Json of_values(const Values& values) {
  return {static_cast<int>(values.kind), values.low, values.high};
}

Values values_of(const Json& json) {
  const auto kind = json.at(0).get<std::uint64_t>();
  if (kind > static_cast<std::uint64_t>(Values::Kind::below)) {
    throw std::runtime_error("an unknown kind of values");
  }
  return {static_cast<Values::Kind>(kind), json.at(1).get<double>(), json.at(2).get<double>()};
}

Json of_technique(const Technique& t) {
  return {{"operation", t.operation},
          {"name", t.name},
          {"engine", name(t.engine)},
          {"arithmetic", t.arithmetic ? Json(number_of(*t.arithmetic)) : Json()},
          {"accumulator", number_of(t.accumulator)},
          {"origin", name(t.origin)},
          {"pace", static_cast<int>(t.pace)},
          {"isa", name(t.isa)},
          {"accumulator_bits", t.accumulator_bits},
          {"accumulation_error", t.accumulation_error},
          {"approximation_error", t.approximation_error},
          {"burst", t.burst},
          {"order_dependent", t.order_dependent},
          {"optional_dimensions", t.optional_dimensions}};
}

Technique technique_of(const Json& json) {
  Technique t;
  t.operation = json.at("operation").get<std::string>();
  t.name = json.at("name").get<std::string>();
  t.engine = enum_of<Engine>(json.at("engine"));
  if (!json.at("arithmetic").is_null()) t.arithmetic = format_of(json.at("arithmetic"));
  t.accumulator = format_of(json.at("accumulator"));
  t.origin = enum_of<Origin>(json.at("origin"));
  t.pace = json.at("pace").get<int>() == 0 ? Pace::naive : Pace::fast;
  t.isa = enum_of<Isa>(json.at("isa"));
  t.accumulator_bits = json.at("accumulator_bits").get<int>();
  t.accumulation_error = json.at("accumulation_error").get<double>();
  t.approximation_error = json.at("approximation_error").get<double>();
  t.burst = json.at("burst").get<bool>();
  t.order_dependent = json.at("order_dependent").get<bool>();
  t.optional_dimensions = json.at("optional_dimensions").get<bool>();
  return t;
}

Json of_signature(const Signature& signature) {
  Json all = Json::array();
  for (std::size_t i = 0; i < signature.count; ++i) {
    const Parameter& parameter = signature.parameters.at(i);
    all.push_back({number_of(parameter.format), parameter.is_const});
  }
  return all;
}

Signature signature_of(const Json& json) {
  Signature signature;
  signature.count = json.size();
  for (std::size_t i = 0; i < signature.count; ++i) {
    signature.parameters.at(i) = {format_of(json.at(i).at(0)), json.at(i).at(1).get<bool>()};
  }
  return signature;
}

Json of_ceiling(const Operation& operation) {
  if (!operation.ceiling) return nullptr;
  const Ceiling& ceiling = *operation.ceiling;
  return {{"resource", name(ceiling.resource)},
          {"cache_level", ceiling.cache_level},
          {"sweep", ceiling.sweep}};
}

}  // namespace

Json of(FormatPair format) { return {number_of(format.a), number_of(format.b)}; }

FormatPair format_pair(const Json& json) { return {format_of(json.at(0)), format_of(json.at(1))}; }

Json of(const Shape& shape) {
  return {{"sizes", shape.dimensions()},
          {"layout", shape.has_layout() ? Json(name(shape.layout())) : Json()},
          {"attributes", shape.attributes()}};
}

Shape shape(const Json& json) {
  std::optional<Layout> layout;
  if (!json.at("layout").is_null()) layout = enum_of<Layout>(json.at("layout"));
  return Shape(json.at("sizes").get<std::vector<Shape::Dimension>>(), layout,
               json.at("attributes").get<std::vector<Shape::Attribute>>());
}

Json of(const Machine& m) {
  Json caches = Json::array();
  for (const Cache& cache : m.caches) caches.push_back({cache.level, cache.bytes, cache.shared_by});
  return {{"units", m.units},
          {"compute_capability", m.compute_capability},
          {"caches", caches},
          {"sve_bytes", m.sve_bytes},
          {"memory_bytes", m.memory_bytes},
          {"peers", m.peers},
          {"flops_per_s_hint", m.flops_per_s_hint},
          {"long_launch_bytes", m.long_launch_bytes}};
}

Machine machine(const Json& json) {
  Machine m;
  m.units = json.at("units").get<int>();
  m.compute_capability = json.at("compute_capability").get<int>();
  for (const Json& cache : json.at("caches")) {
    m.caches.push_back(
        {cache.at(0).get<int>(), cache.at(1).get<std::int64_t>(), cache.at(2).get<int>()});
  }
  m.sve_bytes = json.at("sve_bytes").get<int>();
  m.memory_bytes = json.at("memory_bytes").get<std::int64_t>();
  m.peers = json.at("peers").get<std::vector<int>>();
  m.flops_per_s_hint = json.at("flops_per_s_hint").get<double>();
  m.long_launch_bytes = json.at("long_launch_bytes").get<std::int64_t>();
  return m;
}

Json of(const std::vector<Operand>& operands) {
  Json all = Json::array();
  for (const Operand& o : operands) {
    all.push_back({{"name", o.name},
                   {"elements", o.elements},
                   {"format", number_of(o.format)},
                   {"access", static_cast<int>(o.access)},
                   {"values", of_values(o.values)},
                   {"rows", {o.rows.length, o.rows.stride}},
                   {"unread", o.unread}});
  }
  return all;
}

std::vector<Operand> operands(const Json& json) {
  std::vector<Operand> all;
  for (const Json& one : json) {
    const auto access = one.at("access").get<std::uint64_t>();
    if (access > static_cast<std::uint64_t>(Access::updated)) {
      throw std::runtime_error("an unknown access");
    }
    const Rows rows{one.at("rows").at(0).get<std::int64_t>(),
                    one.at("rows").at(1).get<std::int64_t>()};
    all.push_back({one.at("name").get<std::string>(), one.at("elements").get<std::int64_t>(),
                   format_of(one.at("format")), static_cast<Access>(access),
                   values_of(one.at("values")), 0, rows, one.at("unread").get<std::int64_t>()});
  }
  return all;
}

Json of(const Operation& o) {
  Json formats = Json::array();
  for (const FormatPair format : o.formats) formats.push_back(of(format));
  return {{"name", o.name},
          {"dimensions", o.dimensions},
          {"has_layout", o.has_layout},
          {"of_step", o.of_step},
          {"attributes", o.attributes},
          {"formats", formats},
          {"engine", name(o.engine)},
          {"ceiling", of_ceiling(o)},
          {"functions",
           {{"flops", bool(o.flops)},
            {"operands", bool(o.operands)},
            {"row_length", bool(o.row_length)},
            {"reference", bool(o.reference)},
            {"reduction", bool(o.reduction)},
            {"shapes", bool(o.shapes)},
            {"special", bool(o.special)},
            {"refuses", bool(o.refuses)},
            {"traffic", bool(o.traffic)},
            {"most_per_clock", o.ceiling && o.ceiling->most_per_clock != nullptr}}}};
}

Operation operation(const Json& json) {
  Operation o;
  o.name = json.at("name").get<std::string>();
  o.dimensions = json.at("dimensions").get<std::vector<std::string>>();
  o.has_layout = json.at("has_layout").get<bool>();
  o.of_step = json.at("of_step").get<bool>();
  o.attributes = json.at("attributes").get<std::vector<Shape::Attribute>>();
  for (const Json& format : json.at("formats")) o.formats.push_back(format_pair(format));
  o.engine = enum_of<Engine>(json.at("engine"));
  if (const Json& ceiling = json.at("ceiling"); !ceiling.is_null()) {
    o.ceiling = Ceiling{.resource = enum_of<Resource>(ceiling.at("resource")),
                        .cache_level = ceiling.at("cache_level").get<int>(),
                        .sweep = ceiling.at("sweep").get<bool>()};
  }
  return o;
}

bool has(const Json& described, const char* function) {
  return described.at("functions").at(function).get<bool>();
}

Json of(const Implementation& i) {
  return {{"technique", of_technique(i.technique)},
          {"backend", name(i.backend)},
          {"signature", of_signature(i.signature)},
          {"launch_floor_s", i.launch_floor_s},
          {"functions",
           {{"supports", bool(i.technique.supports)},
            {"full_rate", i.technique.full_rate != nullptr},
            {"prepare", bool(i.prepare)},
            {"choice", bool(i.choice)},
            {"named_plans", bool(i.named_plans)},
            {"unit_times", bool(i.unit_times)}}}};
}

Implementation implementation(const Json& json) {
  Implementation i{};
  i.technique = technique_of(json.at("technique"));
  i.backend = enum_of<Backend>(json.at("backend"));
  i.signature = signature_of(json.at("signature"));
  i.launch_floor_s = json.at("launch_floor_s").get<double>();
  return i;
}

}  // namespace ridgebench::wire
