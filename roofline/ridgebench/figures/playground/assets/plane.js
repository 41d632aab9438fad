// The picture of a roofline, drawn by the rules of scene.js. `devices` are {name, hue, sheet, host, peak, bandwidth, points}, whose
// points are {x, y, roof, text, square}: FLOP/byte, FLOP/s, the FLOP/s of the roof there, a name or "".
"use strict";
const ridgebench_plane = (() => {
  const scene = ridgebench_scene;
  const RIGHT = 24, BELOW = 46, TALLEST = 540, MOST = 800; // px
  const ABOVE = 24, HEAD = 26; // the unit of the axis; room for a name over the highest roof
  const SPARE = 0.6; // decades that an axis may have beyond what it holds
  const FONT = "13px system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', sans-serif";
  const MARK = 9, DIAGONAL = Math.SQRT1_2;
  const pen = document.createElement("canvas").getContext("2d");
  const long = (text) => { pen.font = FONT; return pen.measureText(text).width; };
  const escaped = (text) => String(text).replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
  const log = Math.log10;

  // --- where everything lies -------------------------------------------------------------------------------------

  // The places of log10 of FLOP/byte and of FLOP/s, px downwards.
  const frameOf = (devices, room, margins) => {
    const [unit, scale] = devices.every((one) => one.host) ? ["GFLOP/s", 1e9] : ["TFLOP/s", 1e12];
    const places = devices.flatMap((one) => one.points.map(({ x, y }) => [x, y]));
    const held = scene.limits(places, devices.map((one) => scene.lines(one.bandwidth, one.peak)), margins, scale);
    const numbers = scene.decades(held[1]).map(scene.tick);
    const left = Math.ceil(Math.max(long(unit), ...numbers.map(long))) + 12;
    const wide = Math.min(room, MOST) - left - RIGHT;
    const decade = scene.decadeIn(held, wide, TALLEST - HEAD);
    const x = scene.filled(held[0], wide, decade, SPARE);
    const y = scene.filled(held[1], (held[1][1] - held[1][0]) * decade + HEAD, decade);
    const [right, floor] = [left + decade * (x[1] - x[0]), ABOVE + decade * (y[1] - y[0])];
    const rates = y.map((one) => one + log(scale));
    return { unit, scale, x, y, rates, decade, left, right, floor, X: (one) => left + decade * (one - x[0]),
      Y: (one) => floor - decade * (one - rates[0]) };
  };

  // --- names -----------------------------------------------------------------------------------------------------

  const meets = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  // The boxes of a text: of a turned one several along it.
  const boxesOf = ({ x, y, anchor, turned }, width) => {
    if (!turned) {
      const left = x - { start: 0, middle: width / 2, end: width }[anchor];
      return [[left - 3, y - 12, left + width + 3, y + 5]];
    }
    const steps = Math.ceil(width / 8);
    return Array.from({ length: steps + 1 }, (_, index) => {
      const along = (index / steps - 0.5) * width * DIAGONAL;
      return [x + along - 8, y - along - 8, x + along + 8, y - along + 8];
    });
  };

  // Places names one after the other: each has the first of its places that meets no other name, no mark and no line, else the first
  // one that meets no other name and no mark.
  const namer = (frame, marks, lines) => {
    const taken = [...marks], area = [frame.left + 1, 2, frame.right + RIGHT - 2, frame.floor + 2];
    const inside = (box) => box[0] >= area[0] && box[1] >= area[1] && box[2] <= area[2] && box[3] <= area[3];
    const free = (boxes, others) => boxes.every((box) => inside(box) && !others.some((other) => meets(box, other)));
    return (text, places, kind = "halo") => {
      const width = long(text) * (kind === "region" ? 14 / 13 : 1);
      const tried = places.map((place) => [place, boxesOf(place, width)]).filter(([, boxes]) => free(boxes, taken));
      if (!tried.length) return "";
      const [place, boxes] = tried.find(([, found]) => free(found, lines)) || tried[0];
      taken.push(...boxes);
      const at = place.turned ? `transform="translate(${place.x} ${place.y}) rotate(-45)" y="4"` : `x="${place.x}" y="${place.y}"`;
      return `<text class="${kind}" ${at} text-anchor="${place.anchor || "middle"}">${escaped(text)}</text>`;
    };
  };

  // Small boxes along the lines of a device: its roof and its drop-lines.
  const lineBoxes = (frame, one) => {
    const { X, Y, floor } = frame, lines = scene.lines(one.bandwidth, one.peak);
    const along = ([x1, y1], [x2, y2]) => {
      const steps = Math.max(1, Math.ceil(Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1)) / 4));
      return Array.from({ length: steps + 1 }, (_, index) => [x1 + (x2 - x1) * index / steps, y1 + (y2 - y1) * index / steps])
        .map(([x, y]) => [x - 2, y - 2, x + 2, y + 2]);
    };
    const roofs = lines.map((line) => scene.within(line, frame.x, frame.rates)).filter((ends) => ends.length);
    const drops = lines.filter((line) => line.ridge !== null).map((line) => [[line.ridge, line.height], [line.ridge, frame.rates[0]]]);
    const below = one.points.filter((point) => point.roof > point.y).map((point) => [[log(point.x), log(point.roof)], [log(point.x), log(point.y)]]);
    return [...roofs, ...drops, ...below].flatMap(([start, end]) => along([X(start[0]), Y(start[1])], [X(end[0]), Math.min(floor, Y(end[1]))]));
  };

  // Places along a slope, above it or below it, the first ones near its lower third.
  const alongSlope = (frame, [start, end], first) => {
    const sides = first ? [-16, 16] : [16, -16];
    return [0.35, 0.5, 0.2, 0.65, 0.8].flatMap((share) => sides.map((side) => {
      const [x, y] = [start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])];
      return { x: frame.X(x) + side * DIAGONAL, y: frame.Y(y) + side * DIAGONAL, turned: true };
    }));
  };

  // --- drawing ---------------------------------------------------------------------------------------------------

  const grid = (frame) => {
    const { left, right, floor, X, Y } = frame, shown = (limits, apart) => scene.decades(limits, Infinity, Math.max(1, Math.ceil(apart / frame.decade)));
    const widest = Math.max(...scene.decades(frame.x).map((power) => long(scene.tick(power)))) + 10;
    const across = shown(frame.x, widest).map((power) => `<path class="grid" d="M${X(power)} ${ABOVE}V${floor}"/>`
      + `<text class="axis" x="${X(power)}" y="${floor + 18}" text-anchor="middle">${scene.tick(power)}</text>`);
    const up = shown(frame.y, 22).map((power) => [power, Y(power + log(frame.scale))]).map(([power, y]) => `<path class="grid" d="M${left} ${y}H${right}"/>`
      + `<text class="axis" x="${left - 7}" y="${y + 4}" text-anchor="end">${scene.tick(power)}</text>`);
    return `${across.join("")}${up.join("")}<text class="axis" x="${right}" y="${floor + 38}" text-anchor="end">FLOP per byte</text>`
      + `<text class="axis" x="4" y="14">${frame.unit}</text>`;
  };

  const roof = (frame, one) => {
    const { X, Y, floor } = frame;
    const lines = scene.lines(one.bandwidth, one.peak), parts = lines.map((line) => scene.within(line, frame.x, frame.rates));
    const corners = parts.filter((ends) => ends.length).map((ends, index) => (index ? [ends[1]] : ends)).flat();
    const outline = corners.map(([x, y]) => `${X(x)} ${Y(y)}`).join("L");
    const { ridge } = lines[lines.length - 1];
    const bend = ridge !== null && ridge > frame.x[0] && ridge < frame.x[1] ? `<path class="drop" d="M${X(ridge)} ${Y(log(one.peak))}V${floor}"/>`
      + `<circle class="ridge" cx="${X(ridge)}" cy="${Y(log(one.peak))}" r="4.5"/>` : "";
    return `<g class="h${one.hue}"><path class="roof${one.sheet ? " sheet" : ""}" d="M${outline}"/>${bend}</g>`;
  };

  const marksOf = (frame, one) => one.points.map((point) => ({ ...point, px: frame.X(log(point.x)), py: frame.Y(log(point.y)) }));
  const marks = (frame, one) => `<g class="h${one.hue}">${marksOf(frame, one).map(({ px, py, y, roof: limit, square }) => {
    const drop = limit > y * 1.02 ? `<path class="drop" d="M${px} ${frame.Y(log(limit))}V${py}"/>` : "";
    return drop + (square ? `<rect class="mark" x="${px - 6}" y="${py - 6}" width="12" height="12"/>` : `<circle class="mark dot" cx="${px}" cy="${py}" r="7.5"/>`);
  }).join("")}</g>`;

  // The names of roofs: bandwidth along the slope, peak over the flat part, ridge at the foot of its drop-line.
  const roofNames = (frame, devices, one, place, withUnit) => {
    const { X, Y, floor, right } = frame, [slope, flat] = scene.lines(one.bandwidth, one.peak);
    const rising = scene.within(slope, frame.x, frame.rates);
    const fastest = one.bandwidth === Math.max(...devices.map((other) => other.bandwidth));
    const names = [rising.length ? place(withUnit(one.bandwidth, "B/s"), alongSlope(frame, rising, fastest)) : ""];
    if (flat && flat.ridge < frame.x[1]) {
      const [x, y] = [X(flat.ridge), Y(flat.height)], high = one.peak === Math.max(...devices.map((other) => other.peak ?? 0));
      const levels = high ? [y - 12, y + 20] : [y + 20, y - 12];
      const ends = [[right - 4, "end"], [right + RIGHT - 6, "end"], [x + 12, "start"], [x - 12, "end"]];
      names.push(place(withUnit(one.peak, "FLOP/s"), ends.flatMap(([at, anchor]) => levels.map((level) => ({ x: at, y: level, anchor })))));
      const rows = [8, 26, 44, 62].map((up) => floor - up);
      names.push(place(`ridge ${Number((10 ** flat.ridge).toPrecision(3))}`, rows.flatMap((row) => [{ x: x + 6, y: row, anchor: "start" }, { x: x - 6, y: row, anchor: "end" }])));
    }
    return `<g class="h${one.hue}">${names.join("")}</g>`;
  };

  const regions = (frame, devices, place) => {
    const [one] = devices;
    if (devices.length > 1 || !one.peak) return "";
    const middle = frame.X(Math.min(frame.x[1], Math.max(frame.x[0], log(one.peak / one.bandwidth))));
    return [[frame.left, middle, "memory-bound"], [middle, frame.right, "compute-bound"]].map(([from, to, name]) => (
      to - from < long(name) + 16 ? "" : place(name, [64, 84, 104, 44].map((up) => ({ x: (from + to) / 2, y: frame.floor - up, anchor: "middle" })), "region"))).join("");
  };

  const pointNames = (frame, one, place) => `<g class="h${one.hue}">${marksOf(frame, one).filter(({ text }) => text).map(({ px, py, text }) => {
    const right = [[14, 24], [16, 4], [14, -14]].map(([dx, dy]) => ({ x: px + dx, y: py + dy, anchor: "start" }));
    const left = [[-14, -14], [-16, 4], [-14, 24]].map(([dx, dy]) => ({ x: px + dx, y: py + dy, anchor: "end" }));
    const far = [44, -34, 64, -54].map((dy) => ({ x: px, y: py + dy, anchor: "middle" }));
    return place(text, [...(one.hue ? [...left, ...right] : [...right, ...left]), ...far]);
  }).join("")}</g>`;

  // The picture as SVG in at most `room` px, and the key of its colours. `withUnit(value, unit)` writes a rate.
  const draw = (devices, room, margins, withUnit) => {
    const frame = frameOf(devices, room, margins);
    const spots = devices.flatMap((one) => marksOf(frame, one)).map(({ px, py }) => [px - MARK, py - MARK, px + MARK, py + MARK]);
    const place = namer(frame, spots, devices.flatMap((one) => lineBoxes(frame, one)));
    const names = [...devices.map((one) => pointNames(frame, one, place)), ...devices.map((one) => roofNames(frame, devices, one, place, withUnit)),
      regions(frame, devices, place)];
    const spoken = devices.flatMap((one) => one.points).map((one) => `${one.text || ""} ${one.x.toPrecision(3)} FLOP per byte`).join("; ");
    const parts = [grid(frame), ...devices.map((one) => roof(frame, one)), ...devices.map((one) => marks(frame, one)), ...names];
    return `<svg role="img" aria-label="Roofline. ${escaped(spoken)}" width="${frame.right + RIGHT}" height="${frame.floor + BELOW}">${parts.join("")}</svg>`
      + devices.map((one) => `<span class="key h${one.hue}"><i></i>${escaped(one.name)}, ${one.sheet ? "data sheet" : "measured"}</span>`).join("");
  };

  return { draw, escaped };
})();
