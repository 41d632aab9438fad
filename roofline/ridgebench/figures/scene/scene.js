// The rules of axes.py and roofline.py for pages that draw a roofline themselves. A test compares both over random inputs. Limits
// [low, high] are in log10, as are lines {height, rises, start, end, ridge}; places are [FLOP/byte, FLOP/s].
"use strict";
const ridgebench_scene = (() => {
  const log = Math.log10;
  const LEAST_DECADES = 2; // of an axis

  // --- axes.py ---------------------------------------------------------------------------------------------------

  // Powers of ten within the limits: the multiples of `step`, or of a larger number if more than `most` would remain.
  const decades = ([low, high], most = Infinity, step = 1) => {
    const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
    const apart = Math.max(step, Math.ceil((last - first + 1) / most));
    const found = [];
    for (let power = first; power <= last; power += 1) if (power % apart === 0) found.push(power);
    return found;
  };
  // The length of a decade with which both axes have room in width x height.
  const decadeIn = ([x, y], width, height) => Math.min(width / (x[1] - x[0]), height / (y[1] - y[0]));
  // The limits with an upper end that fills `length`, at most `spare` decades further.
  const filled = ([low, high], length, decade, spare = Infinity) => [low, Math.min(Math.max(high, low + length / decade), high + spare)];

  // --- roofline.py -----------------------------------------------------------------------------------------------

  const at = (line, x) => line.height + (line.rises ? x : 0);
  // The slope and the flat part of a roof; without a peak the slope.
  const lines = (bandwidth, peak) => {
    const slope = { height: log(bandwidth), rises: true, start: -Infinity, end: Infinity, ridge: null };
    if (!peak) return [slope];
    const bend = log(peak / bandwidth);
    return [{ ...slope, end: bend }, { height: log(peak), rises: false, start: bend, end: Infinity, ridge: bend }];
  };
  // Both ends of the part of a line within axes; empty if it does not cross them.
  const within = (line, x, y) => {
    const [low, high] = line.rises ? y.map((one) => one - line.height) : [-Infinity, Infinity];
    const [start, end] = [Math.max(line.start, x[0], low), Math.min(line.end, x[1], high)];
    return start < end ? [[start, at(line, start)], [end, at(line, end)]] : [];
  };
  const hold = (...parts) => {
    const ends = parts.flatMap(([values, room]) => values.map((value) => [value - log(room[0]), value + log(room[1])]));
    return [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
  };
  // Limits of both axes that hold points, ridges, and the roofs of all sources from the left edge on; y in `scale` FLOP/s.
  const limits = (points, roofs, margins, scale) => {
    const [found, kept] = [points.map((place) => place.map(log)), roofs.flat()];
    const ridges = kept.filter((line) => line.ridge !== null).map((line) => line.ridge);
    let [left, right] = hold([margins.x.map(log), [1, 1]], [found.map(([x]) => x), margins.points], [ridges, margins.ridges]);
    left = margins.whole ? Math.floor(left) : left;
    const heights = kept.length || found.length ? kept.map((line) => at(line, left)) : [log(scale)];
    let [low, high] = hold([found.map(([, y]) => y), margins.rates], [heights, margins.roofs]).map((end) => end - log(scale));
    low = Math.min(low, high - LEAST_DECADES);
    return [[left, Math.max(right, left + LEAST_DECADES)], [margins.whole ? Math.floor(low) : low, high]];
  };

  // --- units.py --------------------------------------------------------------------------------------------------

  // A power of ten as a plain number, 0.001 to 1,000; smaller ones as 10⁻⁶.
  const tick = (power) => {
    if (power >= 0) return (10 ** power).toLocaleString("en");
    if (power >= -3) return String(Number((10 ** power).toPrecision(3)));
    return `10${[...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("")}`;
  };

  return { decades, decadeIn, filled, at, lines, within, limits, tick };
})();
