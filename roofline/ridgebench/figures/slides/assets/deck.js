// The deck: one step of a slide is shown at a time. Without this file the page has all of them, one below the other.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const slides = [...document.querySelectorAll(".slide")];
  const steps = [...document.querySelectorAll(".step")];
  const slideOf = (step) => step.closest(".slide");
  const titleOf = (step) => step.querySelector("h2").textContent;
  const SWIPE = 45; // px
  const words = JSON.parse(byId("words").textContent); // by their English, with {fields}
  const BLOCKED = "The browser blocked the window of the notes; allow it for this page.";
  let current = 0, second = null, touched = null;

  // A sentence of the page in its language.
  function said(english, fields = {}) {
    return words[english].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
  }

  // The step that the URL names: `#4` is the first step of slide 4, `#3.2` the second one of slide 3.
  function named() {
    const name = location.hash.slice(1);
    return steps.findIndex((step) => step.id === name || step.id === `${name}.1`);
  }

  function place() {
    const own = [...slideOf(steps[current]).children], number = slides.indexOf(slideOf(steps[current])) + 1;
    const where = { number, count: slides.length, step: own.indexOf(steps[current]) + 1, steps: own.length };
    return said(own.length > 1 ? "{number} of {count}, step {step} of {steps}" : "{number} of {count}", where);
  }

  // A step of the slide that is shown appears over the one before it, which stays until the next move.
  function show(index) {
    const before = steps[current], shown = steps[index];
    const grown = index === current + 1 && slideOf(before) === slideOf(shown);
    for (const step of steps) step.classList.remove("shown", "before", "grown");
    before.classList.toggle("before", grown);
    shown.classList.add("shown");
    shown.classList.toggle("grown", grown);
    for (const step of steps) step.toggleAttribute("inert", step !== shown);
    current = index;
    byId("place").textContent = place();
    byId("heard").textContent = `${place()}: ${titleOf(shown)}`;
    byId("back").disabled = index === 0;
    byId("on").disabled = index === steps.length - 1;
    if (named() !== index) location.replace(`#${shown.id}`);
    document.title = `${place()} · ${titleOf(shown)}`;
    window.scrollTo(0, 0);
    writeNotes();
  }

  const move = (by) => show(Math.max(0, Math.min(steps.length - 1, current + by)));

  // --- the window of the notes --------------------------------------------------------------------------------------

  function line(text, kind, element = "p") {
    const made = second.document.createElement(element);
    made.textContent = text;
    made.className = kind;
    return made;
  }

  function writeNotes() {
    if (!second || second.closed) return;
    const minutes = steps.map((step) => Number(step.dataset.minutes));
    const sum = (list) => list.reduce((all, one) => all + one, 0);
    const from = sum(minutes.slice(0, current)), next = steps[current + 1];
    const notes = second.document.importNode(steps[current].querySelector(".notes"), true);
    notes.open = true;
    second.document.body.replaceChildren(
      line(said("{place} · minutes {from} to {to} of {all}",
        { place: place(), from, to: from + minutes[current], all: sum(minutes) }), "quiet"),
      line(titleOf(steps[current]), "", "h2"), notes,
      line(next ? said("Next: {title}", { title: titleOf(next) }) : said("The last slide"), "quiet"));
    second.document.title = said("Notes · {title}", { title: titleOf(steps[current]) });
  }

  function openNotes() {
    second = window.open("", "ridgebench-notes", "width=720,height=560");
    if (!second) {
      byId("place").textContent = byId("heard").textContent = said(BLOCKED);
      return;
    }
    const page = second.document;
    page.head.replaceChildren(page.importNode(document.querySelector("style"), true));
    page.documentElement.lang = document.documentElement.lang;
    page.body.className = "second";
    page.onkeydown = press;
    writeNotes();
    second.focus();
  }

  // --- keys, buttons, swipes ----------------------------------------------------------------------------------------

  const KEYS = {
    ArrowRight: () => move(1), ArrowDown: () => move(1), PageDown: () => move(1), " ": () => move(1),
    ArrowLeft: () => move(-1), ArrowUp: () => move(-1), PageUp: () => move(-1),
    Home: () => show(0), End: () => show(steps.length - 1), n: openNotes,
  };

  function press(event) {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === " " && event.target.closest("button, summary")) return;
    event.preventDefault();
    event.key === " " && event.shiftKey ? move(-1) : act();
  }

  document.addEventListener("keydown", press);
  byId("back").addEventListener("click", () => move(-1));
  byId("on").addEventListener("click", () => move(1));
  byId("notes").addEventListener("click", openNotes);
  window.addEventListener("hashchange", () => { if (named() >= 0 && named() !== current) show(named()); });
  byId("slides").addEventListener("touchstart", (event) => {
    touched = event.touches.length === 1 ? event.touches[0] : null;
  }, { passive: true });
  byId("slides").addEventListener("touchend", (event) => {
    if (!touched || event.touches.length) return;
    const end = event.changedTouches[0], across = end.clientX - touched.clientX;
    if (Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(end.clientY - touched.clientY)) move(across < 0 ? 1 : -1);
    touched = null;
  }, { passive: true });

  document.documentElement.classList.add("live");
  byId("bar").hidden = false;
  show(Math.max(0, named()));
})();
