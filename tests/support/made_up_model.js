// In place of the compiled model: it answers `predict` for a product by the numbers of one device, and keeps what it was asked.
"use strict";
const ridgebench_model = async ({ print }) => {
  const DEVICE = { peak_flops_per_s: 989.5e12, bandwidth_bytes_per_s: 3.35e12 };
  const CHOICES = { sheets: [{ name: "h100-sxm", title: "H100" }, { name: "h200", title: "H200" }], models: ["llama-3-8b"],
    operations: [{ name: "matmul", dimensions: ["m", "n", "k"], formats: ["bf16"], of_step: false }] };
  const predicted = (shape) => {
    const [m, n, k] = shape.split("/").map((part) => Number(part.split(":")[1]));
    const [flops, bytes] = [2 * m * n * k, 2 * (m * k + n * k + m * n)];
    const [arithmetic, memory] = [flops / DEVICE.peak_flops_per_s, bytes / DEVICE.bandwidth_bytes_per_s];
    return { ...DEVICE, flops, bytes, intensity_flop_per_byte: flops / bytes, time_lower_bound_s: Math.max(arithmetic, memory),
      attainable_flops_per_s: flops / Math.max(arithmetic, memory), bound: arithmetic > memory ? "compute" : "memory", mfu_bound: null };
  };
  const asked = [];
  const answer = (text) => {
    asked.push(text);
    const words = JSON.parse(text);
    print(words.includes("--json") ? JSON.stringify(predicted(words[2])) : `the text of ${text}`);
    return 0;
  };
  const calls = { prepare: () => null, choices: () => JSON.stringify(CHOICES), answer, text_of: (value, unit) => `${Number(value.toPrecision(4))} ${unit}` };
  return { asked, ccall: (name, result, types, given) => calls[name](...given), FS: { analyzePath: () => ({ exists: true }), mkdir() {}, writeFile() {} } };
};
