// Texts with a title and a button each that copies the whole text.
function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  // A hub without https has no clipboard; a selected field still can.
  const field = document.createElement("textarea");
  field.value = text;
  field.style.cssText = "position:fixed;opacity:0";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done ? Promise.resolve() : Promise.reject(new Error("copying is not allowed here"));
}

function passage(item, limit) {
  const box = document.createElement("section"), head = document.createElement("header");
  const title = document.createElement("span"), button = document.createElement("button");
  const text = document.createElement("pre");
  title.textContent = item.title;
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${item.title}`);
  button.addEventListener("click", () => {
    copyText(item.text).then(() => { button.textContent = "Copied"; }, () => { button.textContent = "No access"; });
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  const more = item.text.length - limit;
  text.textContent = more > 0 ? item.text.slice(0, limit) : item.text;  // never HTML
  text.tabIndex = 0;
  head.append(title, button);
  box.append(head, text);
  if (more > 0) {
    const note = document.createElement("footer");
    note.textContent = `… ${more.toLocaleString("en")} more characters; Copy takes all`;
    box.append(note);
  }
  return box;
}

function render({ model, el }) {
  el.classList.add("lcb-passages");
  const draw = () => {
    el.replaceChildren(...model.get("groups").map((group) => {
      const row = document.createElement("div");
      row.className = "lcb-passages-row";
      row.append(...group.map((item) => passage(item, model.get("limit"))));
      return row;
    }));
    if (!model.get("groups").length) el.textContent = model.get("empty");
  };
  model.on("change:groups", draw);
  draw();
  return () => model.off("change:groups", draw);
}

export default { render };
