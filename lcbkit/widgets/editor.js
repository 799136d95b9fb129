// A small editor for Python: a plain text field, with its coloured copy behind it and line numbers beside it.
const WORDS = new Set(("False None True and as assert async await break class continue def del elif else except " +
  "finally for from global if import in is lambda nonlocal not or pass raise return try while with yield").split(" "));
const KNOWN = new Set(("abs all any bin bool chr dict divmod enumerate filter float frozenset input int isinstance " +
  "iter len list map max min next open ord pow print range repr reversed round set sorted str sum super tuple type " +
  "zip self").split(" "));
const PIECE = /(#[^\n]*)|([rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|(\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?)\b)|(@?\b[A-Za-z_]\w*)/g;
const COLOURED = 60_000;  // characters; longer programs stay plain

function coloured(code) {
  const out = document.createDocumentFragment();
  if (code.length > COLOURED) { out.append(code); return out; }
  let at = 0, named = false;
  for (const found of code.matchAll(PIECE)) {
    const [text, comment, string, number, word] = found;
    let kind = comment ? "comment" : string ? "string" : number ? "number" : "";
    if (word) {
      kind = named ? "def" : word[0] === "@" ? "meta" : WORDS.has(word) ? "keyword" : KNOWN.has(word) ? "builtin" : "";
      named = word === "def" || word === "class";
    }
    if (!kind) continue;
    out.append(code.slice(at, found.index));
    const span = document.createElement("span");
    span.className = `lcb-code-${kind}`;
    span.textContent = text;  // never HTML
    out.append(span);
    at = found.index + text.length;
  }
  out.append(code.slice(at));
  return out;
}

function render({ model, el }) {
  el.classList.add("lcb-editor");
  const numbers = document.createElement("div"), stage = document.createElement("div");
  const copy = document.createElement("pre"), field = document.createElement("textarea");
  numbers.className = "lcb-editor-numbers";
  numbers.setAttribute("aria-hidden", "true");
  stage.className = "lcb-editor-stage";
  copy.setAttribute("aria-hidden", "true");
  field.spellcheck = false;
  field.setAttribute("wrap", "off");
  ["autocomplete", "autocorrect", "autocapitalize"].forEach((name) => field.setAttribute(name, "off"));
  field.setAttribute("data-lm-suppress-shortcuts", "true");
  stage.append(copy, field);
  el.append(numbers, stage);
  let timer = 0;

  function paint() {
    const code = field.value, count = code.split("\n").length, mark = model.get("marked_line");
    copy.replaceChildren(coloured(code), "\n");
    numbers.replaceChildren(...Array.from({ length: count }, (_, i) => {
      const line = document.createElement("div");
      line.textContent = i + 1;
      if (i + 1 === mark) line.className = "lcb-editor-marked";
      return line;
    }));
    follow();
  }

  function follow() {
    copy.style.transform = `translate(${-field.scrollLeft}px, ${-field.scrollTop}px)`;
    numbers.scrollTop = field.scrollTop;
  }

  function send() {
    clearTimeout(timer);
    timer = 0;
    if (field.value === model.get("code")) return;
    model.set("code", field.value);
    // Not save_changes: while the kernel is busy that waits, and a click on a button would overtake it.
    model.send({ kind: "edit", code: field.value });
  }

  function receive() {
    clearTimeout(timer);
    timer = 0;
    if (field.value === model.get("code")) return;
    field.value = model.get("code");
    field.scrollTop = field.scrollLeft = 0;
    paint();
  }

  // execCommand keeps the field's own undo; there is no other way to.
  function insert(text) {
    if (!document.execCommand("insertText", false, text)) {
      field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
      changed();
    }
  }

  function changed() {
    paint();
    clearTimeout(timer);
    timer = setTimeout(send, 200);
  }

  // Replace the selected lines, whole, and leave them selected.
  function eachLine(edit) {
    const code = field.value, start = code.lastIndexOf("\n", field.selectionStart - 1) + 1;
    let end = code.indexOf("\n", Math.max(start, field.selectionEnd - (field.selectionEnd > field.selectionStart ? 1 : 0)));
    if (end < 0) end = code.length;
    const text = edit(code.slice(start, end).split("\n")).join("\n");
    field.setSelectionRange(start, end);
    insert(text);
    field.setSelectionRange(start, start + text.length);
  }

  function comment(lines) {
    const all = lines.every((line) => !line.trim() || /^\s*#/.test(line));
    return lines.map((line) => (!line.trim() ? line : all ? line.replace(/^(\s*)# ?/, "$1") : line.replace(/^(\s*)/, "$1# ")));
  }

  let leaving = false;  // after Escape, Tab moves on as everywhere else
  function onKey(event) {
    event.stopPropagation();  // JupyterLab has its own meaning for many keys
    const control = event.ctrlKey || event.metaKey;
    const at = field.selectionStart, before = field.value.slice(field.value.lastIndexOf("\n", at - 1) + 1, at);
    const several = field.value.slice(at, field.selectionEnd).includes("\n");
    if (event.key === "Escape") { leaving = true; return; }
    if (event.key === "Tab" && leaving) { leaving = false; return; }
    leaving = leaving && ["Shift", "Control", "Alt", "Meta"].includes(event.key);
    if (control && event.key === "Enter") { send(); model.send({ kind: "run" }); }
    else if (control && event.key === "/") eachLine(comment);
    else if (control || event.altKey) return;
    else if (event.key === "Tab" && event.shiftKey) eachLine((lines) => lines.map((line) => line.replace(/^ {1,4}|^\t/, "")));
    else if (event.key === "Tab" && several) eachLine((lines) => lines.map((line) => (line ? "    " + line : line)));
    else if (event.key === "Tab") insert(" ".repeat(4 - (before.length % 4)));
    else if (event.key === "Enter" && !event.shiftKey) {
      insert("\n" + before.match(/^[ \t]*/)[0] + (/:\s*(#.*)?$/.test(before) ? "    " : ""));
    } else if (event.key === "Backspace" && at === field.selectionEnd && /^ +$/.test(before)) {
      field.setSelectionRange(at - ((before.length - 1) % 4 + 1), at);
      document.execCommand("delete");
    } else return;
    event.preventDefault();
  }

  const name = () => { field.setAttribute("aria-label", model.get("label")); field.placeholder = model.get("placeholder"); };
  field.addEventListener("keydown", onKey);
  field.addEventListener("input", changed);
  field.addEventListener("scroll", follow);
  field.addEventListener("blur", send);
  model.on("change:code", receive);
  model.on("change:marked_line", paint);
  model.on("change:label change:placeholder", name);
  name();
  field.value = model.get("code");
  paint();
  return () => {
    send();
    model.off("change:code", receive);
    model.off("change:marked_line", paint);
    model.off("change:label change:placeholder", name);
  };
}

export default { render };
