// The live view of a batch. Python sends numbers; clocks run here, so that a silent batch does not look dead.
function make(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours) return `${hours} h ${String(minutes).padStart(2, "0")} min`;
  return minutes ? `${minutes} min ${String(rest).padStart(2, "0")} s` : `${rest} s`;
}

function render({ model, el }) {
  el.classList.add("lcb", "lcb-live");
  const top = make("div", "lcb-live-top");
  const facts = make("div", "lcb-live-facts");
  const button = make("button", "lcb-live-stop", "Stop and save");
  button.type = "button";
  const bar = make("div", "lcb-live-bar");
  bar.setAttribute("role", "progressbar");
  const cells = make("div", "lcb-live-cells");
  const counts = make("div", "lcb-live-counts");
  const curve = make("div", "lcb-live-curve");
  const note = make("div", "lcb-live-note");
  top.append(facts, button);
  el.append(top, bar, curve, cells, counts, note);
  let came = Date.now();

  function fact(value, words, name = "") {
    const box = make("div", `lcb-live-fact ${name}`);
    box.append(make("b", "", value), make("span", "", words));
    return box;
  }

  function drawFacts() {
    const state = model.get("state");
    if (state.done === undefined) return;
    const since = state.phase === "running" ? (Date.now() - came) / 1000 : 0;
    const parts = [];
    if (state.scored) {
      parts.push(fact(percent(state.passed / state.scored),
        `pass@1 so far, 95 %: ${percent(state.low)} to ${percent(state.high)}`, "lcb-live-score"));
    }
    const total = state.total ? ` of ${state.total.toLocaleString("en")}` : "";
    parts.push(fact(`${state.done.toLocaleString("en")}${total}`, state.what));
    for (const [value, words] of state.facts ?? []) parts.push(fact(value, words));
    if (state.rate) parts.push(fact((60 * state.rate).toFixed(1), "a minute"));
    parts.push(fact(duration(state.seconds + since), "elapsed"));
    const left = state.left === null ? 0 : state.left - since;  // a promise that has run out is none
    if (left >= 1 && state.phase === "running") {
      parts.push(fact(duration(left), "left, about"));
    }
    facts.replaceChildren(...parts);
  }

  function draw() {
    came = Date.now();
    drawFacts();
    const state = model.get("state");
    if (state.done === undefined) return;
    bar.setAttribute("aria-valuemin", "0");
    bar.setAttribute("aria-valuemax", String(state.total ?? state.done));
    bar.setAttribute("aria-valuenow", String(state.done));
    bar.setAttribute("aria-label", `${state.done} of ${state.total} ${state.what}`);
    const whole = state.total || state.done || 1;
    bar.replaceChildren(...state.counts.map(([words, tone, letter, number]) => {
      const part = make("span", `lcb-live-part lcb-live-${tone}`);
      part.style.width = `${(100 * number) / whole}%`;
      part.title = `${number} ${words}`;
      return part;
    }));
    counts.replaceChildren(...state.counts.map(([words, tone, letter, number]) => {
      const item = make("span", "lcb-legend");
      item.append(make("span", `lcb-v lcb-v-${letter}`, letter), ` ${words} ${number}`);
      return item;
    }));
    curve.innerHTML = model.get("drawing");  // made of numbers alone
    note.textContent = state.phase === "stopping"
      ? "stopping: programs that are finished get their verdict, then all is saved" : state.note || state.where;
    button.disabled = state.phase !== "running";
  }

  function drawCells() {
    const letters = model.get("letters"), names = model.get("names");
    const dense = letters.length > 400;
    cells.classList.toggle("lcb-dense", dense);
    while (cells.children.length > letters.length) cells.lastChild.remove();
    for (let i = 0; i < letters.length; i++) {
      const letter = letters[i];
      const cell = cells.children[i] ?? cells.appendChild(make("span"));
      if (cell.dataset.letter === letter) continue;  // thousands of cells, few of which change
      cell.dataset.letter = letter;
      cell.className = `lcb-v lcb-v-${letter === " " ? "none" : letter}`;
      cell.textContent = letter === " " ? "" : letter;
      cell.title = names[i] ?? String(i);
    }
  }

  button.addEventListener("click", () => {
    button.disabled = true;
    model.set("stop_asked", true);
    model.save_changes();
  });
  const clock = setInterval(drawFacts, 1000);
  model.on("change:state", draw);
  model.on("change:letters", drawCells);
  draw();
  drawCells();
  return () => {
    clearInterval(clock);
    model.off("change:state", draw);
    model.off("change:letters", drawCells);
  };
}

export default { render };
