// A sortable table that draws only the rows in view, so that thousands cost no more than twenty.
const ROW_HEIGHT = 28;
const SPARE_ROWS = 6;

// The same order as natural_key in table.py: numbers inside a text count by value, missing values come last.
function pieces(text) {
  return text.toLowerCase().split(/([0-9]+)/).map((part, i) => (i % 2 ? BigInt(part) : part));
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const left = pieces(String(a)), right = pieces(String(b));
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return left.length - right.length;
}

function sorted(rows, columns, key, descending) {
  const at = columns.findIndex((column) => column.key === key);
  if (at < 0) return rows;
  const rank = columns[at].order;
  const value = rank ? (row) => (row[at] === null ? null : rank.indexOf(row[at])) : (row) => row[at];
  const known = rows.filter((row) => value(row) !== null);
  const unknown = rows.filter((row) => value(row) === null);
  known.sort((a, b) => compare(value(a), value(b)) * (descending ? -1 : 1));
  return known.concat(unknown);
}

function shown(cell, column) {
  if (cell === null) return "";
  const text = typeof cell === "number" && column.digits !== undefined ? cell.toFixed(column.digits) : String(cell);
  return column.unit ? text + column.unit : text;
}

// Widths come from the longest text of a column, so that they stay while rows scroll by.
function widths(rows, columns) {
  return columns.map((column, at) => {
    let longest = column.label.length + 2;
    for (const row of rows) longest = Math.max(longest, shown(row[at], column).length);
    return Math.min(longest, 40);
  });
}

function make(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;  // never HTML: data may be hostile
  return node;
}

// A letter per test becomes a row of small boxes.
function strip(letters) {
  const line = make("span", letters.length > 24 ? "lcb-strip lcb-dense" : "lcb-strip");
  line.append(...Array.from(letters, (letter) => make("span", `lcb-v lcb-v-${letter === "-" ? "none" : letter}`, letter)));
  return line;
}

function render({ model, el }) {
  let order = [];
  const base = `lcb-${Math.random().toString(36).slice(2)}`;
  el.classList.add("lcb-table");
  const scroll = make("div", "lcb-table-scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "grid");
  scroll.setAttribute("data-lm-suppress-shortcuts", "true");
  const table = make("table");
  table.setAttribute("role", "presentation");
  const group = make("colgroup"), head = make("thead"), body = make("tbody");
  table.append(group, head, body);
  const empty = make("div", "lcb-table-empty");
  scroll.append(table, empty);
  el.append(scroll);

  function drawHead() {
    const columns = model.get("columns"), key = model.get("sort_key"), descending = model.get("sort_desc");
    const focused = head.contains(document.activeElement) && document.activeElement.dataset.key;
    const size = widths(model.get("rows"), columns);
    group.replaceChildren(...columns.map((column, at) => {
      const col = make("col", column.minor ? "lcb-minor" : "");
      col.style.width = column.grow ? "auto" : `calc(${size[at]}ch + 20px)`;
      return col;
    }));
    const line = make("tr");
    line.setAttribute("role", "row");
    line.setAttribute("aria-rowindex", "1");
    columns.forEach((column) => {
      const cell = make("th", column.minor ? "lcb-minor" : "");
      cell.setAttribute("role", "columnheader");
      cell.scope = "col";
      const active = column.key === key;
      cell.setAttribute("aria-sort", active ? (descending ? "descending" : "ascending") : "none");
      if (column.align === "right") cell.classList.add("lcb-right");
      const button = make("button", "", column.label);
      button.type = "button";
      button.dataset.key = column.key;
      button.title = `Sort by ${column.label}`;
      const arrow = make("span", "lcb-arrow", active ? (descending ? "▾" : "▴") : "");
      arrow.setAttribute("aria-hidden", "true");
      // At the right the label stays above the numbers' ends.
      column.align === "right" ? button.prepend(arrow) : button.append(arrow);
      button.addEventListener("click", () => {
        model.set("sort_desc", active ? !descending : false);
        model.set("sort_key", column.key);
        model.save_changes();
      });
      cell.append(button);
      line.append(cell);
    });
    head.replaceChildren(line);
    if (focused) head.querySelector(`button[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  function spacer(rows) {
    const line = make("tr", "lcb-space");
    line.setAttribute("aria-hidden", "true");
    line.style.height = `${rows * ROW_HEIGHT}px`;
    return line;
  }

  function drawRow(row, index, columns, selected) {
    const line = make("tr");
    line.id = `${base}-${index}`;
    line.dataset.key = row[0];
    line.setAttribute("role", "row");
    line.setAttribute("aria-rowindex", String(index + 2));
    line.setAttribute("aria-selected", String(row[0] === selected));
    columns.forEach((column, at) => {
      const text = shown(row[at], column);
      const cell = make("td", column.minor ? "lcb-minor" : "", text);
      cell.setAttribute("role", "gridcell");
      if (column.align === "right") cell.classList.add("lcb-right");
      if (column.mono) cell.classList.add("lcb-mono");
      const tone = column.tones && Object.hasOwn(column.tones, text) ? column.tones[text] : "";
      if (tone) cell.classList.add(`lcb-tone-${tone}`);
      if (column.grow) cell.title = text;
      if (column.strip) cell.replaceChildren(strip(text));
      line.append(cell);
    });
    line.addEventListener("click", () => pick(index));
    line.addEventListener("dblclick", open);
    return line;
  }

  function drawBody() {
    const columns = model.get("columns"), selected = model.get("selected");
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const count = Math.ceil(model.get("height") / ROW_HEIGHT) + 2 * SPARE_ROWS;
    const part = order.slice(first, first + count);
    const after = order.length - first - part.length;
    body.replaceChildren(
      ...(first ? [spacer(first)] : []),
      ...part.map((row, i) => drawRow(row, first + i, columns, selected)),
      ...(after > 0 ? [spacer(after)] : []),
    );
    const at = place();
    if (at >= first && at < first + part.length) scroll.setAttribute("aria-activedescendant", `${base}-${at}`);
    else scroll.removeAttribute("aria-activedescendant");
  }

  function draw() {
    order = sorted(model.get("rows"), model.get("columns"), model.get("sort_key"), model.get("sort_desc"));
    scroll.style.height = `${model.get("height")}px`;
    scroll.setAttribute("aria-label", model.get("label"));
    scroll.setAttribute("aria-rowcount", String(order.length + 1));
    empty.textContent = order.length ? "" : model.get("empty");
    drawHead();
    drawBody();
  }

  function place() {
    const selected = model.get("selected");
    return order.findIndex((row) => row[0] === selected);
  }

  function show() {
    const at = place();
    if (at >= 0) {
      const top = at * ROW_HEIGHT, room = scroll.clientHeight - head.offsetHeight;
      if (top < scroll.scrollTop) scroll.scrollTop = top;
      else if (room > 0 && top + ROW_HEIGHT > scroll.scrollTop + room) scroll.scrollTop = top + ROW_HEIGHT - room;
    }
    drawBody();
  }

  function pick(index) {
    const row = order[Math.max(0, Math.min(order.length - 1, index))];
    if (!row) return;
    if (row[0] !== model.get("selected")) {
      model.set("selected", row[0]);
      model.save_changes();
    }
    show();
  }

  function focusOn(selector) {
    const target = selector && (el.closest(".lcb") ?? document).querySelector(selector);
    target?.focus();
    return Boolean(target);
  }

  function open() {
    if (place() >= 0) focusOn(model.get("open_focus"));
  }

  function onKey(event) {
    if (event.target !== scroll || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(scroll.clientHeight / ROW_HEIGHT) - 2), at = place();
    const moves = {
      ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: order.length - 1,
    };
    if (event.key in moves) pick(moves[event.key]);
    else if (event.key === "Enter") open();
    else if (event.key !== "/" || !focusOn(model.get("search_focus"))) return;
    event.preventDefault();
    event.stopPropagation();  // JupyterLab would move its cell cursor
  }

  scroll.addEventListener("keydown", onKey);
  scroll.addEventListener("scroll", drawBody);
  const drawing = ["rows", "columns", "sort_key", "sort_desc", "height", "label", "empty"];
  // Several changes of one message are one drawing.
  let waiting = false, top = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      draw();
      if (top) scroll.scrollTop = 0;  // whoever sorts wants to see what comes first
      else show();
      top = false;
    });
  };
  const resort = () => { top = true; later(); };
  drawing.forEach((name) => model.on(`change:${name}`, name.startsWith("sort") ? resort : later));
  model.on("change:selected", show);
  draw();
  requestAnimationFrame(show);  // heights are known once the table is on the page
  return () => {
    drawing.forEach((name) => model.off(`change:${name}`, name.startsWith("sort") ? resort : later));
    model.off("change:selected", show);
  };
}

export default { render };
