// The page: boxes and sliders become the words of a command line, the model answers them, and the answer is drawn.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const DEFAULTS = {
    view: "operation", on: "h100-sxm", also: "", op: "matmul", format: "bf16", model: "llama-3-8b", config: "", weights: "",
    batch: "1", context: "4096", gpus: "8", mfu: "40", stage: "0", checkpoint: "none", optimizer: "adamw", precision: "bf16",
    tokens: "1T", price: "",
  };
  const SQUARE = "4096", VECTOR = "16777216"; // sizes of an operation until the user moves a slider
  const PASTED = "config.json"; // the file that a pasted text becomes
  const OPTIONS = {
    weights: [["", "as the format"], ..."fp8 int8 mxfp8 nvfp4 mxfp4 int4".split(" ").map((one) => [one, one])],
    stage: [["0", "0: nothing is sharded"], ["1", "1: optimizer states"], ["2", "2: and gradients"], ["3", "3: and parameters"]],
    checkpoint: [["none", "none: keep all layers"], ["layer", "layer: outputs of layers"], ["sqrt", "sqrt: every sqrt(layers)-th"],
      ["full", "full: the input only"]],
    optimizer: "adamw adam sgd momentum adagrad rmsprop lion adafactor".split(" ").map((one) => [one, one]),
    precision: "bf16 fp32 bf16-master fp32-bf16".split(" ").map((one) => [one, one]),
  };
  const state = { ...DEFAULTS };
  let model, choices, lines = [], problems = [], written = ""; // the address that the page wrote last

  // --- the model -------------------------------------------------------------------------------------------------

  const unpacked = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  const load = async () => {
    const wasmBinary = await unpacked(data.wasm);
    model = await ridgebench_model({ wasmBinary, print: (line) => lines.push(line), printErr: (line) => problems.push(line) });
    model.ccall("prepare", null, [], []);
    choices = JSON.parse(model.ccall("choices", "string", [], []));
    for (const run of data.runs) {
      let folder = run.path.startsWith("/") ? "" : ".";
      for (const name of run.path.split("/").filter((part) => part !== "")) {
        folder += `/${name}`;
        if (!model.FS.analyzePath(folder).exists) model.FS.mkdir(folder);
      }
      for (const [name, text] of Object.entries(run.files)) model.FS.writeFile(`${folder}/${name}`, await unpacked(text));
    }
  };

  // The output of `ridgebench WORDS`, its line on standard error, and its exit code.
  const ask = (words) => {
    [lines, problems] = [[], []];
    const code = model.ccall("answer", "number", ["string"], [JSON.stringify(words)]);
    return { code, text: lines.map((line) => `${line}\n`).join(""), problem: problems.join("\n") };
  };
  const withUnit = (value, unit) => model.ccall("text_of", "string", ["number", "string"], [value, unit]);

  // --- the state: boxes and address ------------------------------------------------------------------------------

  const operation = () => choices.operations.find((one) => one.name === state.op);
  const sizeKey = (dimension) => `size-${dimension}`;
  const size = (dimension) => state[sizeKey(dimension)] || (operation().dimensions.length > 1 ? SQUARE : VECTOR);
  const optionsOf = (select, groups) => {
    const one = ([value, text]) => Object.assign(document.createElement("option"), { value, textContent: text });
    select.replaceChildren(...groups.flatMap(([label, options]) => {
      if (!label) return options.map(one);
      const group = Object.assign(document.createElement("optgroup"), { label });
      group.append(...options.map(one));
      return options.length ? [group] : [];
    }));
  };

  const readAddress = () => {
    for (const key of Object.keys(state)) delete state[key];
    Object.assign(state, DEFAULTS, Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
    if (!["operation", "serving", "training"].includes(state.view)) state.view = DEFAULTS.view;
    if (!operation()) state.op = DEFAULTS.op;
  };
  const address = () => {
    const kept = Object.entries(state).filter(([key, value]) => key === "view" || (value !== (DEFAULTS[key] ?? "")));
    return `#${new URLSearchParams(kept)}`;
  };

  const fillBoxes = () => {
    const sheets = choices.sheets.map(({ name, title }) => [name, `${title} (${name})`]);
    const runs = data.runs.map(({ path, title }) => [path, `${title}, measured: ${path.split("/").pop()}`]);
    const devices = [["Measured roofs", runs], ["Data sheets", sheets]];
    optionsOf(by("on"), devices);
    optionsOf(by("also"), [["", [["", "no other device"]]], ...devices]);
    optionsOf(by("model"), [["", choices.models.map((name) => [name, name])], ["", [[PASTED, "a pasted config.json"]]]]);
    const names = (step) => choices.operations.filter((one) => one.of_step === step).map(({ name }) => [name, name]);
    optionsOf(by("op"), [["Operations", names(false)], ["Of a training or decoding step", names(true)]]);
    for (const [id, options] of Object.entries(OPTIONS)) optionsOf(by(id), [["", options]]);
  };

  // A slider moves over 1, 2, 3, 4, 6, 8, 12 and so on: the powers of two, and those times 1.5.
  const slid = (step) => String(step === 1 ? 1 : (step % 2 ? 1.5 : 1) * 2 ** Math.floor(step / 2));
  const stepOf = (text) => {
    const scale = { k: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12 }[text.slice(-1)] || 1;
    return Math.max(1, Math.round(2 * Math.log2(Math.max(1, parseFloat(text) * scale || 1))));
  };
  // While a slider is dragged, each frame of the browser has one answer at most; the address follows when it is let go.
  let frame = 0;
  const moved = (range, write) => {
    range.oninput = () => { write(); frame ||= requestAnimationFrame(() => { frame = 0; showBoxes(); draw(); }); };
    range.onchange = () => { cancelAnimationFrame(frame); frame = 0; update(); };
  };
  const slider = (range, high, read, write) => {
    Object.assign(range, { min: 1, max: 2 * high, step: 1, value: stepOf(read()) });
    moved(range, () => write(slid(Number(range.value))));
  };

  const showSizes = () => {
    const { dimensions } = operation();
    const high = dimensions.length > 1 ? 16 : 30;
    const old = [...by("sizes").querySelectorAll("input:not([type])")].map((one) => one.id).join();
    if (old !== dimensions.map(sizeKey).join()) {
      by("sizes").replaceChildren(...dimensions.map((dimension) => {
        const row = Object.assign(document.createElement("div"), { className: "size" });
        const label = Object.assign(document.createElement("label"), { htmlFor: sizeKey(dimension) });
        label.textContent = state.op === "matmul" && dimension === "m" ? "m, rows of the batch" : dimension;
        const box = Object.assign(document.createElement("input"), { id: sizeKey(dimension) });
        const range = Object.assign(document.createElement("input"), { type: "range", ariaLabel: dimension });
        box.onchange = () => { state[box.id] = box.value.trim(); update(); };
        row.append(label, box, range);
        return row;
      }));
    }
    dimensions.forEach((dimension) => {
      const box = by(sizeKey(dimension));
      box.value = size(dimension);
      slider(box.nextSibling, high, () => size(dimension), (value) => { state[sizeKey(dimension)] = value; });
    });
  };

  const showBoxes = () => {
    const own = state.view === "operation" ? operation() : choices.operations.find((one) => one.name === "matmul");
    const formats = state.view === "training" ? own.formats.filter((one) => !one.includes(",")) : own.formats;
    optionsOf(by("format"), [["", formats.map((name) => [name, name])]]);
    if (!formats.includes(state.format)) state.format = formats.includes("bf16") ? "bf16" : formats[0];
    for (const one of document.querySelectorAll("[data-view]")) one.classList.toggle("off", !one.dataset.view.split(" ").includes(state.view));
    document.querySelector(`[name=view][value=${state.view}]`).checked = true;
    for (const key of Object.keys(DEFAULTS)) if (key !== "view") by(key).value = state[key];
    by("paste").hidden = state.view === "operation" || state.model !== PASTED;
    showSizes();
    for (const range of document.querySelectorAll("[data-of]")) {
      slider(range, Number(range.dataset.high), () => state[range.dataset.of], (value) => { state[range.dataset.of] = value; });
    }
    const share = document.querySelector("[data-share]");
    share.value = state.mfu;
    moved(share, () => { state.mfu = share.value; });
  };

  const update = () => {
    showBoxes();
    const wanted = address();
    if (location.hash !== wanted) location.replace(wanted);
    written = location.hash;
    draw();
  };

  // --- the questions ---------------------------------------------------------------------------------------------

  const shape = () => operation().dimensions.map((dimension) => `${dimension}:${size(dimension)}`).join("/");
  const option = (name, value, usual) => (value === usual ? [] : [name, value]);
  const predicted = (device) => ["predict", state.op, shape(), "--format", state.format, "--on", device];
  const served = () => ["predict", "model", state.model, "--on", state.on, "--batch", state.batch, "--context", state.context,
    "--format", state.format, ...option("--weights", state.weights, "")];
  const memory = () => ["plan", "fits", "--model", state.model, "--on", state.on, "--gpus", state.gpus, "--batch", state.batch,
    "--context", state.context, "--stage", state.stage, "--checkpoint", state.checkpoint, "--optimizer", state.optimizer,
    "--precision", state.precision, "--format", state.format];
  const trained = () => ["plan", "train", "--model", state.model, "--tokens", state.tokens, "--gpus", state.gpus, "--mfu", `${state.mfu}%`,
    "--on", state.on, "--format", state.format, "--optimizer", state.optimizer, "--precision", state.precision,
    ...option("--price-per-gpu-hour", state.price, "")];
  const questions = () => ({
    operation: () => [predicted(state.on), ...(state.also && state.also !== state.on ? [predicted(state.also)] : [])],
    serving: () => [served()],
    training: () => [memory(), trained()],
  })[state.view]();

  // --- drawing ---------------------------------------------------------------------------------------------------

  const { escaped } = ridgebench_plane;
  const shell = (words) => ["ridgebench", ...words].map((one) => (/^[\w@%+=:,./-]+$/.test(one) ? one : `'${one.replaceAll("'", "'\\''")}'`)).join(" ");
  const runOf = (path) => data.runs.find((run) => run.path === path);
  const deviceName = (path) => runOf(path)?.title || path;
  const isRun = (path) => runOf(path) !== undefined;

  // Devices as plane.js draws them: those of the answers, or of one roof.
  const drawnDevice = (path, hue, { peak_flops_per_s: peak, bandwidth_bytes_per_s: bandwidth }, points) => ({ name: deviceName(path), hue,
    sheet: !isRun(path), host: runOf(path)?.host || false, peak, bandwidth, points });
  const roofline = (devices) => ridgebench_plane.draw(devices, by("chart").clientWidth, data.margins, withUnit);

  // The end of a scale: 1, 2 or 5 times a power of ten.
  const scaleEnd = (value) => {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value * 0.9999);
  };
  // Rows {name, parts: [{value, hue, name}], text, longest} on one scale that ends at `end`; `mark` is a line.
  const bars = (rows, end, mark) => rows.map(({ name, parts, text, longest }) => `<div class="bar"><span class="${longest ? "longest" : ""}">${escaped(name)}<br>${escaped(text)}</span>
    <span class="track">${parts.map((one) => `<span class="part h${one.hue}" data-share="${Math.min(100, 100 * one.value / end)}" title="${escaped(one.name || name)}"></span>`).join("")}${mark ? `<span class="end" data-at="${100 * mark / end}"></span>` : ""}</span></div>`).join("");
  const layBars = () => { // the page's policy allows no style in HTML
    for (const one of document.querySelectorAll("[data-share].part")) one.style.width = `${one.dataset.share}%`;
    for (const one of document.querySelectorAll("[data-at]")) one.style.left = `calc(${one.dataset.at}% - 3px)`;
  };
  const cards = (pairs) => `<dl class="cards">${pairs.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join("")}</dl>`;

  const ANSWERS = {
    operation: (answers) => {
      const devices = answers.map((answer, index) => {
        const y = answer.flops / answer.time_lower_bound_s;
        const device = index ? state.also : state.on;
        const placed = answer.intensity_flop_per_byte !== null && y > 0;
        return drawnDevice(device, index, answer, placed ? [{ x: answer.intensity_flop_per_byte, y, roof: answer.attainable_flops_per_s,
          text: answers.length > 1 ? deviceName(device) : state.op }] : []);
      });
      const rows = answers.flatMap((answer, index) => {
        const times = { arithmetic: answer.peak_flops_per_s ? answer.flops / answer.peak_flops_per_s : 0, memory: answer.bytes / answer.bandwidth_bytes_per_s };
        const all = answer.bound === "launch" || answer.bound === "special" ? { ...times, "at best": answer.time_lower_bound_s } : times;
        const longest = Math.max(...Object.values(all));
        return Object.entries(all).map(([name, value]) => ({ name: answers.length > 1 ? `${name}, ${deviceName(index ? state.also : state.on)}` : name,
          parts: [{ value, hue: index }], text: withUnit(value, "s"), longest: value === longest }));
      });
      const end = scaleEnd(Math.max(...answers.map((one) => one.time_lower_bound_s)));
      const one = answers[0];
      const limits = { memory: "the longer one", compute: "the longer one", launch: "the launch", special: "the special functions" };
      const decides = `the limit is ${[...new Set(answers.map((answer) => limits[answer.bound]))].join(" or ")}`;
      const limit = { memory: "is memory-bound", compute: "is compute-bound", launch: "waits for its launch", special: "waits for special functions" };
      const said = answers.map((answer, index) => `${limit[answer.bound]} on ${deviceName(index ? state.also : state.on)}: ${withUnit(answer.time_lower_bound_s, "s")} at best`);
      const share = one.mfu_bound === null ? "unknown" : `${Number((100 * one.mfu_bound).toPrecision(3))} %`;
      return { finding: `${state.op} ${said.join(", and ")}`, chart: roofline(devices),
        bars: `<h2>Time of arithmetic and of memory traffic, 0 to ${escaped(withUnit(end, "s"))}: ${decides}</h2>${bars(rows, end)}`
          + cards([["FLOPs", withUnit(one.flops, "FLOP")], ["bytes", withUnit(one.bytes, "B")],
            ["FLOP per byte", one.intensity_flop_per_byte === null ? "unknown" : String(Number(one.intensity_flop_per_byte.toPrecision(4)))],
            ["limit", one.bound], ["MFU at most", share]]) };
    },

    serving: ([answer]) => {
      const roof = JSON.parse(ask(["predict", "matmul", "1", "--format", state.format, "--on", state.on, "--json"]).text);
      const [prefill, decode] = answer.phases;
      const points = answer.phases.flatMap((phase) => {
        const named = phase.operations.reduce((most, one) => (one.share > most.share ? one : most));
        return phase.operations.filter((one) => one.intensity_flop_per_byte > 0).map((one) => ({ x: one.intensity_flop_per_byte,
          y: one.flops / one.time_lower_bound_s, square: phase === prefill, // below the roof where the launch decides
          roof: Math.min(roof.peak_flops_per_s, one.intensity_flop_per_byte * roof.bandwidth_bytes_per_s),
          text: one === named ? (phase === prefill ? "prefill" : "decode") : "" }));
      });
      const group = (one) => (one.role === "attention" ? 1 : one.name === "lm_head" ? 2 : 0);
      const rows = answer.phases.map((phase) => ({ name: phase === prefill ? "prefill" : "decode, a step", text: withUnit(phase.time_lower_bound_s, "s"),
        parts: [0, 1, 2].map((hue) => ({ hue, value: phase.operations.filter((one) => group(one) === hue).reduce((sum, one) => sum + one.share, 0),
          name: ["linear layers", "attention", "lm_head"][hue] })) }));
      const whole = answer.memory_bytes;
      const used = answer.weights_bytes + decode.kv_cache_bytes;
      const end = Math.max(whole ?? 0, used);
      const held = [{ name: "memory", text: withUnit(used, "B"), parts: [{ value: answer.weights_bytes, hue: 0, name: "weights" }, { value: decode.kv_cache_bytes, hue: 3, name: "KV cache" }] }];
      const key = (names) => names.map(([hue, name]) => `<span class="key h${hue}"><i></i>${name}</span>`).join("");
      const fits = decode.fits === false ? "does not fit" : "fits";
      points.forEach((one) => { one.y = Math.min(one.y, one.roof); }); // other traffic may have a faster roof than the one drawn
      return { finding: `${answer.model} decodes at most ${withUnit(decode.tokens_per_s, "tokens/s")} with ${decode.batch} sequence${decode.batch === 1 ? "" : "s"} on ${deviceName(state.on)}, and ${fits}`,
        chart: roofline([drawnDevice(state.on, 0, roof, points)]),
        bars: `<p class="quiet">Squares are the operations of prefill, circles those of a step of decoding.</p><h2>Where the time goes</h2>${bars(rows, 1)}${key([[0, "linear layers"], [1, "attention"], [2, "lm_head"]])}`
          + `<h2>Memory${whole ? ` against the ${escaped(withUnit(whole, "B"))} of the device` : ""}</h2>${bars(held, end, whole)}${key([[0, "weights"], [3, "KV cache"]])}`
          + cards([["prefill of one sequence", withUnit(prefill.time_lower_bound_s, "s")], ["decode, a step", withUnit(decode.time_lower_bound_s, "s")],
            ["tokens/s of a user", withUnit(decode.tokens_per_s / decode.batch, "")], ["largest batch", answer.largest_batch === null ? "unknown" : String(answer.largest_batch)]]) };
    },

    training: ([fits, train]) => {
      const unit = runOf(state.on)?.host ? "host" : "GPU";
      const end = Math.max(fits.memory_bytes, fits.bytes);
      const band = (part, index) => ({ value: part.bytes, hue: index % 4, name: part.name });
      const rows = [{ name: `memory of a ${unit}`, text: withUnit(fits.bytes, "B"), parts: fits.parts.map(band) }];
      const key = fits.parts.map((part, index) => `<span class="key h${index % 4}"><i></i>${escaped(part.name)}, ${escaped(withUnit(part.bytes, "B"))}</span>`).join("");
      const change = fits.changes.length ? `<p>It fits with ${escaped(fits.changes.map((one) => one.change).join(", or with "))}.</p>` : fits.fits ? "" : "<p>No single change makes it fit.</p>";
      const money = train.cost === undefined || train.cost === null ? [] : [["cost", `${Number(train.cost.toPrecision(4)).toLocaleString("en")}`]];
      const days = Number(train.days.toPrecision(4)).toLocaleString("en");
      return { finding: `${state.model} ${fits.fits ? "fits" : "does not fit"} ${deviceName(state.on)}, and ${state.tokens} tokens take ${days} days on ${state.gpus} ${unit}${Number(state.gpus) === 1 ? "" : "s"}`,
        chart: `<h2>Memory of one ${unit} against its ${escaped(withUnit(fits.memory_bytes, "B"))}</h2>${bars(rows, end, fits.memory_bytes)}${key}${change}`,
        bars: cards([["days", days], ...money, [`${unit}-hours`, Number(train.gpu_hours.toPrecision(4)).toLocaleString("en")],
          ["FLOPs", withUnit(train.flops, "FLOP")]]) };
    },
  };

  const draw = () => {
    if (state.model === PASTED) model.FS.writeFile(PASTED, state.config);
    const words = questions();
    const answers = words.map((one) => ask([...one, "--json"]));
    const failed = answers.find((one) => one.code !== 0);
    const said = failed ? failed.problem : [...new Set(answers.map((one) => one.problem))].filter((one) => one).join("\n"); // warnings
    by("problem").hidden = said === "";
    by("problem").textContent = said;
    document.body.dataset.code = failed ? failed.code : 0;
    if (failed) {
      by("finding").textContent = "This question has no answer";
      by("chart").replaceChildren(), by("bars").replaceChildren();
    } else {
      const shown = ANSWERS[state.view](answers.map((one) => JSON.parse(one.text)));
      by("finding").textContent = shown.finding;
      by("chart").innerHTML = shown.chart;
      by("bars").innerHTML = shown.bars;
      layBars();
    }
    showCommands(words);
  };

  // The command of each question, and below it the text that it prints, which the model writes when the box is open.
  const showCommands = (words) => {
    const open = [...document.querySelectorAll("#answers details")].map((one) => one.open);
    by("answers").replaceChildren(...words.map((one, index) => {
      const box = document.createElement("div");
      box.innerHTML = `<div class="command"><code tabindex="0"></code><button type="button">Copy</button></div><details><summary>What it prints</summary><pre tabindex="0"></pre></details>`;
      const [details, printed] = [box.querySelector("details"), box.querySelector("pre")];
      box.querySelector("code").textContent = shell(one);
      const print = () => {
        if (!details.open || printed.textContent) return;
        const { text, problem } = ask(one);
        printed.textContent = text || problem;
      };
      details.open = open[index] || false;
      details.ontoggle = print;
      print();
      box.querySelector("button").onclick = (event) => {
        navigator.clipboard?.writeText(shell(one)).then(() => { event.target.textContent = "Copied"; }, () => getSelection().selectAllChildren(box.querySelector("code")));
      };
      return box;
    }));
  };

  // --- start -----------------------------------------------------------------------------------------------------

  const start = async () => {
    await load();
    fillBoxes();
    readAddress();
    for (const key of Object.keys(DEFAULTS)) if (key !== "view") by(key).onchange = () => { state[key] = by(key).value.trim(); update(); };
    for (const one of document.querySelectorAll("[name=view]")) one.onchange = () => { state.view = one.value; update(); };
    by("controls").onsubmit = (event) => event.preventDefault();
    by("main").hidden = false;
    update();
    addEventListener("hashchange", () => { if (location.hash !== written) { readAddress(); update(); } });
    addEventListener("resize", draw);
    window.playground = { ask, choices, state, model };
    document.body.dataset.ready = "yes";
  };
  start().catch((error) => {
    by("finding").textContent = "The model did not start";
    by("problem").hidden = false;
    by("problem").textContent = `${error.message || error}; a browser of 2023 or newer runs this page`;
    document.body.dataset.ready = "no";
  });
})();
