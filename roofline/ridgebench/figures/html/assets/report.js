// The interaction of a report. Picture and table are complete without it: this file fits the picture to the window, zooms it,
// filters it, and adds no data. All coordinates of `data` are px of the picture in the file (data.py, labels.py, frame.py).
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const still = data.frame;
  const chart = d3.select("#chart");
  const links = chart.selectAll(".point").data(data.order.map((index) => data.points[index]));
  const labels = data.sources.flatMap((source, index) => source.labels.map((label) => ({ ...label, source: index })));
  const names = chart.selectAll(".label").data(labels);
  const rows = d3.selectAll("#rows tbody tr").nodes();
  const rowOf = (point) => byId(`row-${point.i}`);
  const words = new Map(rows.map((row) => [row.id, row.textContent.toLowerCase()]));
  const NEAR = 28, SAME = 3; // px from the pointer to a point, and between points that lie on one place
  const SHORTEST = 60; // px of a slope that has a name
  const state = {
    zoom: d3.zoomIdentity, solid: 0, pair: null, current: null,
    sources: data.sources.map((source) => source.state),
  };
  let frame = null;

  // --- geometry -----------------------------------------------------------------------------------------------------

  // A narrow window has no room beside the plot: the names of flat roofs are in a list below it. A plot that is smaller than in the
  // file has no room for all names along slopes.
  function makeFrame() {
    const box = byId("plot-box").clientWidth, card = box > 900 ? 258 : 0;
    const room = Math.max(still.narrow.width, Math.min(still.width, box - card)), wide = room >= still.width;
    const left = wide ? still.left : still.narrow.left, beside = wide ? still.width - still.right : still.narrow.right;
    const [across, high] = [still.right - still.left, still.floor - still.top];
    const scale = Math.min((room - left - beside) / across, still.tallest / high);
    const right = left + scale * across, floor = still.top + scale * high;
    return { box, wide, roomy: scale >= 1, left, right, scale, floor, top: still.top, width: right + beside, height: floor + still.below };
  }
  const across = (x) => state.zoom.applyX(frame.left + (x - still.left) * frame.scale);
  const down = (y) => state.zoom.applyY(frame.floor + (y - still.floor) * frame.scale);
  const inside = (point) => {
    const [x, y] = [across(point.x), down(point.y)];
    return x >= frame.left && x <= frame.right && y >= frame.top && y <= frame.floor;
  };

  // --- drawing ------------------------------------------------------------------------------------------------------

  const tickText = d3.format(",.3~r");

  // Ticks of the visible part of an axis with their places and texts, powers of ten at least `apart` px from each other; d3's if at most
  // two powers of ten are in view.
  function ticks(limits, ends, apart, rescaled) {
    const scale = rescaled(d3.scaleLog(limits.map((power) => 10 ** power), ends)), [low, high] = scale.domain().map(Math.log10);
    const step = Math.ceil(apart / Math.abs(scale(10) - scale(1)));
    const tens = ridgebench_scene.decades([low, high], Infinity, step).map((power) => 10 ** power);
    const all = scale.ticks(6), shown = all.filter(scale.tickFormat(6, tickText));
    const values = ridgebench_scene.decades([low, high]).length > 2 ? tens : shown.length > 1 ? shown : all;
    return values.map((value) => [scale(value), tickText(value)]);
  }

  function drawGrid() {
    const grid = chart.select(".grid"), { left, right, top, floor } = frame;
    const write = (text, x, y, anchor) =>
      grid.append("text").attr("x", x).attr("y", y).attr("text-anchor", anchor).text(text);
    grid.selectAll("*").remove();
    for (const [x, text] of ticks(still.x, [left, right], 44, (scale) => state.zoom.rescaleX(scale))) {
      grid.append("path").attr("d", `M${x} ${top}V${floor}`);
      write(text, x, floor + 17, "middle");
    }
    for (const [y, text] of ticks(still.y, [floor, top], 24, (scale) => state.zoom.rescaleY(scale))) {
      grid.append("path").attr("d", `M${left} ${y}H${right}`);
      write(text, left - 7, y + 4, "end");
    }
  }

  function drawAxes() {
    const { left, right, top, floor } = frame;
    drawGrid();
    chart.attr("viewBox", `0 0 ${frame.width} ${frame.height}`).attr("width", frame.width);
    const plot = chart.select("#plot rect");
    plot.attr("x", left).attr("y", top).attr("width", right - left).attr("height", floor - top);
    chart.select(".frame").attr("d", `M${left} ${top}V${floor}H${right}`);
    chart.select(".axis.x").attr("x", (left + right) / 2).attr("y", floor + 40);
    chart.select(".axis.y").attr("transform", `translate(${frame.wide ? 14 : 10} ${(top + floor) / 2})rotate(-90)`);
  }

  // Filters leave the flat roofs of what they leave: of the formats in which the points are stored or computed.
  function unwanted(line) {
    if (line.kind !== "flat" || everyFormat()) return false;
    return !line.formats.some((format) => state.formats.has(format));
  }

  // The source whose flat roofs have labels. The solid run may have measured none: then it is a data sheet.
  function named() {
    const bold = (index) => ["solid", "dashed"].includes(state.sources[index]) && data.sources[index].lines.length;
    const shown = d3.range(data.sources.length).filter(bold);
    return d3.least(shown, (index) => (data.sources[index].run === state.solid ? 0 : 1)) ?? -1;
  }

  const wholePaths = new Map();  // as the file has them
  function numbersOf(path) {
    if (!wholePaths.has(path)) wholePaths.set(path, path.getAttribute("d"));
    return wholePaths.get(path).match(/-?[\d.]+/g).map(Number);
  }

  // A slope ends at the highest flat roof of its source that the filters leave.
  function endSlopes(source, lines) {
    const edges = [...source.querySelectorAll(".line")].map((line) => line.querySelector(".edge"));
    const flats = edges.filter((edge, index) => edge && lines[index].kind === "flat" && !unwanted(lines[index]));
    const height = d3.min(flats, (edge) => numbersOf(edge)[1]) ?? -Infinity;
    edges.forEach((edge, index) => {
      if (!edge || lines[index].kind === "flat") return;
      const [x1, y1, x2, y2] = numbersOf(edge), share = y2 < height ? Math.max(0, (height - y1) / (y2 - y1)) : 1;
      const x = x1 + share * (x2 - x1), y = y1 + share * (y2 - y1), band = edge.parentNode.querySelector(".band");
      const corners = numbersOf(band), low = corners[1] - y1, high = corners.at(-1) - y1;
      edge.setAttribute("d", `M${x1} ${y1}L${x} ${y}`);
      band.setAttribute("d", `M${x1} ${y1 + low}L${x} ${y + low}V${y + high}L${x1} ${y1 + high}Z`);
    });
  }

  // The lines of the file, moved and scaled as a whole; their strokes keep their width.
  function drawRoofs() {
    const scale = frame.scale * state.zoom.k;
    chart.selectAll(".roofs, .sweeps").attr("transform", `translate(${across(0)} ${down(0)})scale(${scale})`);
    chart.selectAll(".ridge").attr("r", 3.5 / scale);
    chart.selectAll(".source").each(function (_, index) {
      this.setAttribute("class", `source ${state.sources[index]}${index === named() ? " named" : ""}`);
      d3.select(this).selectAll(".line").data(data.sources[index].lines).classed("off", unwanted);
      endSlopes(this, data.sources[index].lines);
    });
  }

  // True if a source is laid over the solid one and its own data sheet.
  const others = (index) =>
    !["solid", "off"].includes(state.sources[index]) && data.sources[index].run !== state.solid;
  const lineOf = (label) => data.sources[label.source].lines[label.line];

  // True if the line of a label has a name now. A small picture has room for the name of main memory only.
  function calls(label) {
    if (label.kind === "own") return state.sources[label.source] === "solid" && (frame.roomy || lineOf(label).kind === "memory");
    if (label.kind === "brief") return frame.roomy && others(label.source);
    return label.source === named() && !unwanted(lineOf(label));
  }
  const inView = ({ y }) => down(y) >= frame.top && down(y) <= frame.floor;

  // True if all names of these flat roofs have room at the height of their lines.
  function levelNames(flats) {
    const tall = (d3.max(flats, (label) => lineOf(label).label.length) || 0) * still.step, places = flats.map(({ y }) => down(y));
    const apart = d3.pairs(places, (one, other) => other - one >= tall);
    return apart.every(Boolean) && places.every((y) => y >= frame.top + tall / 2 && y <= frame.floor - tall / 2);
  }

  // Moves the name of a slope with its place, along the line so far that it is in view; returns whether it can be.
  function moveAlong(node, label) {
    const [x, y] = [across(label.x), down(label.y)], [from, to] = label.ends.map(across);
    const low = Math.max(frame.left, from, x + y - frame.floor), high = Math.min(frame.right, to, x + y - frame.top);
    const text = frame.roomy && label.text.length * still.letter < (high - low) * Math.SQRT2 ? label.text : label.short;
    const half = (text.length * still.letter) / 2 / Math.SQRT2, at = Math.max(low + half, Math.min(high - half, x));
    node.text(text).attr("transform", `translate(${at} ${y - (at - x)})rotate(-45)`);
    return high - low >= SHORTEST;
  }

  // Zooming moves lines apart, so that their names need no other distances than in the file.
  function moveLabel(node, label, level) {
    const group = d3.select(node);
    let shown = calls(label);
    if (label.kind === "name") {
      group.attr("transform", `translate(0 ${down(label.y) - label.y})`);
      group.select("path").attr("d", `M${frame.right + 2} ${label.y}l16 ${level ? 0 : label.shift}`);
      group.select("text").attr("transform", `translate(0 ${level ? -label.shift : 0})`);
      shown &&= frame.wide && inView(label);
    } else if (label.kind === "value") {
      const lift = frame.floor - still.floor + (frame.roomy ? 0 : label.narrow);
      group.attr("transform", `translate(${across(label.x) - label.x} ${lift})`);
      shown &&= across(label.x) >= frame.left && across(label.x) <= frame.right;
    } else if (shown) shown = moveAlong(group.select("text"), label);
    group.classed("off", !shown);
  }

  // The names in the picture, and in the list those of flat roofs and of other memories that have no room there.
  function drawLabels() {
    const flats = labels.filter((label) => label.kind === "name" && calls(label) && inView(label)), level = levelNames(flats);
    names.each(function (label) { moveLabel(this, label, level); });
    const briefs = frame.roomy ? [] : labels.filter(({ kind, source }) => kind === "brief" && others(source));
    const texts = [...flats.map((label) => [lineOf(label), lineOf(label).label.join(", ")]),
      ...briefs.map((label) => [lineOf(label), lineOf(label).brief])];
    const list = d3.select("#roof-list").attr("hidden", frame.wide ? "" : null);
    const items = list.selectAll("li").data(frame.wide ? [] : texts).join("li");
    items.attr("class", ([line]) => line.hue).text(([, text]) => text);
  }

  function drawPoints() {
    links.classed("off", (point) => !point.shown);
    links.attr("transform", (point) => `translate(${across(point.x)} ${down(point.y)})`);
    links.select(".whisker").attr("transform", `scale(1 ${frame.scale * state.zoom.k})`);
    const shown = (sweep) => sweep.map((index) => data.points[index]).filter((point) => point.shown);
    const line = d3.line((point) => point.x, (point) => point.y);
    const paths = chart.select(".sweeps").selectAll("path").data(data.sweeps).join("path");
    paths.attr("class", (sweep) => `f${data.points[sweep[0]].f}`).attr("d", (sweep) => line(shown(sweep)) ?? "");
  }

  function arrowPath([from, to]) {
    const [x1, y1, x2, y2] = [across(from.x), down(from.y), across(to.x), down(to.y)];
    const length = Math.hypot(x2 - x1, y2 - y1), cut = length > 16 ? 6 / length : 0; // the marks stay visible
    return `M${x1 + cut * (x2 - x1)} ${y1 + cut * (y2 - y1)}L${x2 - cut * (x2 - x1)} ${y2 - cut * (y2 - y1)}`;
  }

  function drawArrows() {
    const changed = state.pair === null ? [] : data.changes[state.pair].changed;
    const pairs = changed.map((pair) => pair.map((index) => data.points[index]));
    const shown = pairs.filter((pair) => pair.every((point) => point.shown));
    const paths = chart.select(".arrows").selectAll("path").data(shown).join("path");
    paths.attr("d", arrowPath).attr("marker-end", "url(#head)");
  }

  const finder = chart.append("circle").attr("class", "finder").attr("r", 11);
  function drawFinder() {
    const point = state.current;
    finder.classed("off", !point || !point.shown || !inside(point));
    if (point) finder.attr("cx", across(point.x)).attr("cy", down(point.y));
  }

  function draw() {
    drawAxes(), drawRoofs(), drawLabels(), drawPoints(), drawArrows(), drawFinder();
  }

  // --- the card of a point ------------------------------------------------------------------------------------------

  const heads = d3.selectAll("#rows th").nodes();
  function show(point) {
    state.current = point;
    links.classed("current", (other) => other === point);
    d3.selectAll(rows).classed("current", function () { return this === rowOf(point); });
    const texts = [...rowOf(point).cells].map((cell, index) => [heads[index].dataset.key, cell.textContent]);
    const cells = Object.fromEntries(texts);
    const card = d3.select("#card");
    card.selectAll("*").remove();
    card.append("h3").text(`${cells.run} · ${cells.op} ${cells.technique} ${cells.format}`);
    const list = card.append("dl");
    heads.forEach((head) => {
      if (["run", "op", "technique", "format"].includes(head.dataset.key)) return;
      list.append("dt").text(head.dataset.name);
      list.append("dd").text(cells[head.dataset.key]);
    });
    drawFinder();
  }

  // --- filters ------------------------------------------------------------------------------------------------------

  const boxes = [...document.querySelectorAll("[data-filter]")];
  const everyFormat = () => boxes.every((box) => box.dataset.filter !== "f" || box.checked);

  function filter() {
    const left = {};
    for (const box of boxes) (left[box.dataset.filter] ??= new Set()).add(box.checked ? +box.value : NaN);
    const text = byId("search").value.trim().toLowerCase().split(/\s+/);
    const passes = (point) => Object.entries(left).every(([group, values]) => values.has(point[group]));
    for (const point of data.points) {
      const row = rowOf(point);
      point.shown = passes(point) && text.every((word) => words.get(row.id).includes(word));
      row.hidden = !point.shown;
    }
    const shown = data.points.filter((point) => point.shown);
    state.formats = new Set(shown.flatMap((point) => [point.f, point.a]));
    byId("count").textContent = `${shown.length} of ${data.points.length}`;
    rove(state.current && state.current.shown ? state.current : placed()[0]);
    draw();
  }

  // --- keyboard and pointer -----------------------------------------------------------------------------------------

  const [byX, byY, byIndex] = [(point) => point.x, (point) => -point.y, (point) => point.i];
  const visible = () => links.data().filter((point) => point.shown);
  const placed = () => d3.sort(visible(), byX, byY, byIndex);

  // One mark is in the order of Tab, the arrow keys lead from it to all others.
  function rove(point) {
    links.attr("tabindex", (other) => (other === point ? 0 : -1));
  }

  function focus(point) {
    if (!inside(point)) {
      const [x, y] = [across(point.x), down(point.y)];
      chart.call(zoom.translateTo, state.zoom.invertX(x), state.zoom.invertY(y));
    }
    rove(point);
    links.filter((other) => other === point).node().focus({ preventScroll: true });
  }

  function move(key) {
    const byRate = key === "ArrowUp" || key === "ArrowDown";
    const list = byRate ? d3.sort(visible(), byY, byX, byIndex) : placed();
    if (!list.length) return;
    const at = list.indexOf(state.current);
    const steps = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: Infinity };
    const next = steps[key];
    focus(list[Math.max(0, Math.min(list.length - 1, next))]);
  }

  const PAN = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event, pan = PAN[key];
    if (event.shiftKey && pan) chart.call(zoom.translateBy, pan[0] / state.zoom.k, pan[1] / state.zoom.k);
    else if (pan || key === "Home" || key === "End") move(key);
    else if (key === "+" || key === "=") chart.call(zoom.scaleBy, 1.4);
    else if (key === "-") chart.call(zoom.scaleBy, 1 / 1.4);
    else if (key === "0") reset();
    else return;
    event.preventDefault();
  }

  function nearest(event) {
    const [x, y] = d3.pointer(event, chart.node());
    const distance = (point) => Math.hypot(across(point.x) - x, down(point.y) - y);
    const point = d3.least(links.data().filter((other) => other.shown && inside(other)), distance);
    return point && distance(point) < NEAR ? point : null;
  }

  function hover(event) {
    const point = event.pointerType === "mouse" && !event.buttons && nearest(event);
    if (point) show(point);
  }

  // Another click on one place leads to the next of the points that lie there.
  function choosePoint(event) {
    const first = nearest(event);
    if (!first) return;
    event.preventDefault();
    const apart = (point) => Math.hypot(across(point.x) - across(first.x), down(point.y) - down(first.y));
    const stack = visible().filter((point) => apart(point) < SAME);
    const focused = stack.findIndex((point) => document.activeElement.id === `point-${point.i}`);
    focus(focused < 0 ? first : stack[(focused + 1) % stack.length]);
  }

  function toRow(event, point) {
    event.preventDefault();
    rowOf(point).scrollIntoView({ block: "center" });
    rowOf(point).querySelector("a").focus({ preventScroll: true });
  }

  function toPoint(event) {
    event.preventDefault();
    byId("canvas").scrollIntoView({ block: "center" });
    focus(data.points[+event.currentTarget.hash.slice("#point-".length)]);
  }

  // The wheel alone and one finger scroll the page.
  function zooms(event) {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey;
    return event.touches ? event.touches.length > 1 : !event.button;
  }
  const zoom = d3.zoom().scaleExtent([1, 30]).filter(zooms);
  zoom.on("zoom", ({ transform }) => { state.zoom = transform; draw(); });
  const reset = () => chart.call(zoom.transform, d3.zoomIdentity);

  function resize() {
    frame = makeFrame();
    const corners = [[frame.left, frame.top], [frame.right, frame.floor]];
    zoom.extent(corners).translateExtent(corners);
    draw();
  }

  // --- roofs and arrows of other runs -------------------------------------------------------------------------------

  // A run's measured roofs are solid or faint, a data sheet's are dashed or off. The solid run brings its own sheet.
  function choose(run) {
    state.solid = run;
    data.sources.forEach((source, index) => {
      if (source.run === run) state.sources[index] = source.measured ? "solid" : "dashed";
      else if (state.sources[index] === "solid") state.sources[index] = "faint";
      else if (source.run !== null && !source.measured) state.sources[index] = "off";
    });
    fillOverlays();
    draw();
  }

  function fillOverlays() {
    const list = d3.select("#overlays div");
    list.selectAll("*").remove();
    data.sources.forEach((source, index) => {
      if (state.sources[index] === "solid") return;
      const label = list.append("label");
      const box = label.append("input").attr("type", "checkbox").property("checked", state.sources[index] !== "off");
      box.on("change", (event) => {
        state.sources[index] = !event.target.checked ? "off" : source.measured ? "faint" : "dashed";
        draw();
      });
      label.append("span").text(source.title);
    });
    d3.select("#overlays").attr("hidden", data.sources.length > 1 ? null : "");
  }

  function fillSelects() {
    const options = (id, choices) => d3.select(id).selectAll("option").data(choices).join("option")
      .attr("value", ([value]) => value).text(([, text]) => text);
    const solid = data.sources.filter((source) => source.measured && source.run !== null);
    options("#solid", solid.map((source) => [source.run, source.title]));
    const letter = (run) => data.letters[run];
    const texts = data.changes.map(({ from, to, changed, common }, index) =>
      [index, `${letter(from)} → ${letter(to)}: ${changed.length} of ${common} cases differ`]);
    options("#arrows", [["", "none"], ...texts]);
    options("#preset", data.presets.map(({ name }, index) => [index, name]));
  }

  function chooseArrows(value) {
    state.pair = value === "" ? null : +value;
    drawArrows();
  }

  // --- views --------------------------------------------------------------------------------------------------------

  // A view sets the filters, shows the roofs of one run or of all, and has its finding as the heading. Regimes stay.
  function view(index) {
    const { on, beside, heading } = data.presets[index];
    for (const box of boxes) {
      if (box.dataset.filter !== "g") box.checked = !(box.dataset.filter in on) || +box.value === on[box.dataset.filter];
    }
    data.sources.forEach((source, number) => {
      state.sources[number] = beside || [state.solid, null].includes(source.run) ? source.state : "off";
    });
    if (state.solid !== 0) choose(0), byId("solid").value = 0;
    state.pair = beside && data.letters.length === 2 && data.changes.length ? 0 : null;
    byId("arrows").value = state.pair ?? "";
    byId("solid").parentNode.hidden = !beside || byId("solid").options.length < 2;
    byId("pairs").hidden = !beside || !data.changes.length;
    byId("heading").textContent = heading;
    byId("preset").value = index;
    fillOverlays();
    filter();
  }

  // --- table --------------------------------------------------------------------------------------------------------

  function sortBy(head) {
    const column = heads.indexOf(head), up = head.getAttribute("aria-sort") !== "ascending";
    const numbers = head.classList.contains("n");
    const value = (row) => (numbers ? +(row.cells[column].dataset.v ?? NaN) : row.cells[column].textContent);
    const compare = numbers ? d3.ascending : (one, other) => one.localeCompare(other, "en", { numeric: true });
    const [known, unknown] = [false, true].map((missing) => rows.filter((row) => Number.isNaN(value(row)) === missing));
    known.sort((one, other) => (up ? 1 : -1) * compare(value(one), value(other)));
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    document.querySelector("#rows tbody").append(...known, ...unknown);
  }

  function makeSortable(head) {
    const text = head.textContent;
    d3.select(head).text(null).append("button").attr("type", "button").text(text).on("click", () => sortBy(head));
  }

  // --- downloads ----------------------------------------------------------------------------------------------------

  function save(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // The shown rows with the exact numbers. A spreadsheet takes a text that begins with = + - @ for a formula.
  function csv() {
    const cell = (one) => one.dataset.v ?? one.textContent.replace(/^[=+\-@\t]/, "'$&").replace(/^–$/, "");
    const table = [...document.querySelectorAll("#rows tbody tr:not([hidden])")].map((row) => [...row.cells].map(cell));
    return d3.csvFormatRows([heads.map((head) => head.dataset.key), ...table]);
  }

  function svg() {
    const copy = chart.node().cloneNode(true);
    copy.querySelectorAll(".off, .finder").forEach((node) => node.remove());
    copy.querySelectorAll("a").forEach((node) => node.removeAttribute("href")); // the rows are not in the file
    const theme = document.documentElement.dataset.theme;
    if (theme) copy.dataset.theme = theme;
    copy.setAttribute("width", frame.width), copy.setAttribute("height", frame.height);
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = document.querySelector("style").textContent + "\nsvg{background:var(--background)}";
    copy.prepend(style);
    return new XMLSerializer().serializeToString(copy);
  }

  // --- theme --------------------------------------------------------------------------------------------------------

  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { byId("theme").textContent = isDark() ? "Light" : "Dark"; };

  function switchTheme() {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  }

  // --- start --------------------------------------------------------------------------------------------------------

  function listen() {
    const on = (id, event, action) => byId(id).addEventListener(event, action);
    chart.on("mousedown.focus", (event) => event.preventDefault()); // the browser would focus the topmost mark
    chart.call(zoom).on("keydown", press).on("pointermove", hover).on("click", choosePoint);
    links.on("focus", (_, point) => { rove(point); show(point); });
    links.on("keydown.row", (event, point) => event.key === "Enter" && toRow(event, point));
    document.querySelectorAll("#rows a").forEach((link) => link.addEventListener("click", toPoint));
    boxes.forEach((box) => box.addEventListener("change", filter));
    on("search", "input", filter);
    on("preset", "change", (event) => view(+event.target.value));
    on("solid", "change", (event) => choose(+event.target.value));
    on("arrows", "change", (event) => chooseArrows(event.target.value));
    on("zoom-in", "click", () => chart.call(zoom.scaleBy, 1.4));
    on("zoom-out", "click", () => chart.call(zoom.scaleBy, 1 / 1.4));
    on("reset", "click", reset);
    on("save-csv", "click", () => save("report.csv", "text/csv", csv()));
    on("save-svg", "click", () => save("roofline.svg", "image/svg+xml", svg()));
    on("theme", "click", switchTheme);
    system.addEventListener("change", nameTheme);
    new ResizeObserver(() => byId("plot-box").clientWidth !== frame.box && resize()).observe(byId("plot-box"));
  }

  function start() {
    document.documentElement.classList.add("live");
    for (const id of ["tools", "card", "theme", "search-box"]) byId(id).hidden = false;
    boxes.forEach((box) => { box.hidden = false; });
    links.select("title").remove(); // the card says more; aria-label stays
    heads.forEach(makeSortable);
    fillSelects(), fillOverlays(), nameTheme(), listen();
    frame = makeFrame();
    byId("filter-box").open = frame.wide;
    view(0);
    resize();
  }
  start();
})();
