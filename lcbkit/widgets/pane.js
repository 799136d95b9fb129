// Shows HTML that Python made (all data in it is escaped there), with copy buttons.
function render({ model, el }) {
  const chosen = new Map();  // what the reader opened or closed, by key
  const box = document.createElement("div");
  box.className = "lcbv";
  box.setAttribute("role", "region");
  el.classList.add("lcbv-live");
  el.append(box);

  function draw() {
    box.setAttribute("aria-label", model.get("label"));
    box.innerHTML = model.get("html");
    for (const part of box.querySelectorAll("details[data-key]")) {
      if (chosen.has(part.dataset.key)) part.open = chosen.get(part.dataset.key);
    }
  }

  function remember(event) {
    const part = event.target.closest("summary")?.parentElement;
    if (part?.dataset.key) chosen.set(part.dataset.key, !part.open);  // a click comes before the change
  }

  async function copy(event) {
    const button = event.target.closest(".lcbv-copy");
    if (!button) return;
    const block = button.closest(".lcbv-code") ?? button.parentElement.parentElement;
    const text = button.dataset.copy ?? block.dataset.copy ?? block.querySelector("pre").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // Pages that are not served securely have no clipboard: mark the text, so that Ctrl+C takes it.
      const shown = block.querySelector("pre");
      const whole = shown.textContent === text;
      if (whole) getSelection().selectAllChildren(shown);
      button.textContent = whole ? "Marked, press Ctrl+C" : "Not allowed here";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  box.addEventListener("click", remember);
  box.addEventListener("click", copy);
  // The notebook's own keys must not act on what is read here.
  box.setAttribute("data-lm-suppress-shortcuts", "true");
  model.on("change:html", draw);
  draw();
  return () => model.off("change:html", draw);
}

export default { render };
