// Shows another row in the map, and the other theme. Without it the page shows the lowest row of each GPU.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const cells = [...document.querySelectorAll("#map .cell")];
  const first = cells.map((cell) => [cell.getAttribute("class"), cell.querySelector("text").textContent, cell.querySelector("title").textContent]);

  const show = (number) => {
    const column = data.columns[number];
    const slow = new Set(column ? column.slow : []);
    cells.forEach((cell, place) => {
      let [kind, text, title] = first[place];
      if (column && !kind.includes("state")) {
        const value = column.values[place];
        const step = data.steps.filter((end) => value >= end).length;
        kind = `cell ${value === null ? "none" : `s${step}`}${slow.has(place) ? " slow" : ""}`;
        text = value === null ? "" : (value / 100).toFixed(1);
        title = `${data.names[place]}: ${value === null ? "not measured" : `${text} % of the median`} in ${column.name}`;
      }
      cell.setAttribute("class", kind);
      cell.querySelector("text").textContent = text;
      cell.querySelector("title").textContent = title;
    });
  };
  const choice = document.getElementById("choice");
  choice.addEventListener("change", () => show(Number(choice.value)));
  document.getElementById("tools").hidden = data.columns.length === 0;
  show(Number(choice.value));

  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  button.hidden = false;
  name();
})();
