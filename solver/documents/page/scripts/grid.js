// A table that is sorted, filtered, shown a page at a time and saved as CSV. Values come in as text only.
const PAGE = 15;
const PRINTED = 1000; // about 20 sheets
const SORTED = 5; // of fewer rows everybody sees the order
const SMALL = 12; // rows that need no tools
const FEW = 12; // values that are chosen from a list

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function button(text, run, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", run);
  return made;
}

function csvText(columns, rows) {
  const cell = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map((one) => one.name), ...rows].map((row) => row.map(cell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

class Grid {
  constructor(root, { columns, rows }, onPick = null) {
    Object.assign(this, { root, columns, rows, onPick });
    this.body = root.querySelector("tbody");
    root.querySelector(".cut")?.remove();
    this.name = root.querySelector("caption")?.textContent.trim() || "table";
    this.tests = new Map();
    this.sorted = { column: -1, down: false };
    this.page = 0;
    this.picked = -1;
    this.found = rows.map((_, index) => index);
    this.order = this.found;
    this.addHeads();
    this.addTools();
    this.show();
  }

  addHeads() {
    this.heads = [...this.root.querySelectorAll("thead th")];
    if (this.rows.length < SORTED) return;
    this.heads.forEach((head, column) => {
      const words = [...head.childNodes];
      const sorter = button("", () => this.sort(column), { "aria-label": `Sort by ${head.textContent}` });
      sorter.append(...words.map((one) => one.cloneNode(true)));
      // Browsers do not repeat buttons on the other sheets of a table.
      head.replaceChildren(sorter, element("span", { class: "on-paper" }, ...words));
    });
  }

  addTools() {
    if (this.rows.length > SMALL) {
      const search = element("input", { type: "search", autocomplete: "off" });
      search.addEventListener("input", () => {
        const words = search.value.toLowerCase().trim();
        this.filter("any", words ? (row, index) => this.texts()[index].includes(words) : null);
      });
      this.root.prepend(element("div", { class: "tools" }, element("label", {}, "Find", search), this.filters()));
    }
    this.saving = button("", () => this.saveCsv(), { class: "save" });
    this.status = element("span", { role: "status" });
    this.back = button("Previous", () => this.turn(-1));
    this.next = button("Next", () => this.turn(1));
    this.root.append(element("div", { class: "pager" }, this.back, this.next, this.status, this.saving));
  }

  filters() {
    const fields = element("div");
    const made = element("details", { class: "filters" }, element("summary", {}, "Filter by column"), fields);
    made.addEventListener("toggle", () => fields.append(...this.columns.map((column, at) => this.filterOf(column, at))), {
      once: true, // looks through all rows: not before it is asked for
    });
    return made;
  }

  filterOf(column, index) {
    const set = element("fieldset", {}, element("legend", {}, column.title));
    if (NUMERIC.has(column.of)) {
      const ends = ["from", "to"].map((word) =>
        element("input", { type: "number", step: "any", placeholder: word, "aria-label": `${column.title} ${word}` }),
      );
      // Shares are read, and so asked for, in per cent, and their differences in points.
      const unit = ["share", "points"].includes(column.of) ? 100 : 1;
      const change = () => {
        const [least, most] = ends.map((one) => (one.value === "" ? null : Number(one.value) / unit));
        const within = (value) =>
          value !== null && (least === null || value >= least) && (most === null || value <= most);
        this.filter(index, least === null && most === null ? null : (row) => within(row[index]));
      };
      ends.forEach((one) => one.addEventListener("input", change));
      set.append(element("div", { class: "range" }, ...ends));
      if (unit > 1) set.querySelector("legend").append(column.of === "share" ? " (%)" : " (points)");
      return set;
    }
    const values = [...new Set(this.rows.map((row) => cellText(row[index], column.of)))].sort();
    if (values.length <= FEW) {
      const options = ["any", ...values].map((text, at) => element("option", { value: at }, text));
      const list = element("select", { "aria-label": column.title }, ...options);
      list.addEventListener("change", () => {
        const wanted = values[Number(list.value) - 1];
        this.filter(index, list.value === "0" ? null : (row) => cellText(row[index], column.of) === wanted);
      });
      set.append(list);
      return set;
    }
    const part = element("input", { type: "search", placeholder: "contains", "aria-label": `${column.title} contains` });
    part.addEventListener("input", () => {
      const words = part.value.toLowerCase();
      this.filter(index, words ? (row) => String(row[index] ?? "").toLowerCase().includes(words) : null);
    });
    set.append(part);
    return set;
  }

  // A count is found as it is written, 12,345, and as it is typed, 12345.
  texts() {
    const typed = (value) => (Number.isInteger(value) ? `\n${value}` : "");
    this.written ??= this.rows.map((row) =>
      row.map((value, at) => cellText(value, this.columns[at].of) + typed(value)).join("\n").toLowerCase(),
    );
    return this.written;
  }

  filter(key, test) {
    if (test) this.tests.set(key, test);
    else this.tests.delete(key);
    const tests = [...this.tests.values()];
    this.found = this.order.filter((index) => tests.every((one) => one(this.rows[index], index)));
    this.page = 0;
    this.show();
  }

  sort(column) {
    const down = this.sorted.column === column ? !this.sorted.down : NUMERIC.has(this.columns[column].of);
    this.sorted = { column, down };
    const values = this.rows.map((row) => row[column]);
    const collator = new Intl.Collator("en", { numeric: true });
    const compare = (one, other) =>
      typeof one === "string" || typeof other === "string" ? collator.compare(one, other) : one - other;
    this.order = this.rows.map((_, index) => index).sort((one, other) => {
      const [a, b] = [values[one], values[other]];
      // What has no value comes last, whichever way; equal rows keep the order of the file.
      if (a === null || b === null) return (a === null) - (b === null) || one - other;
      return (down ? compare(b, a) : compare(a, b)) || one - other;
    });
    this.heads.forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const kept = new Set(this.found);
    this.found = this.order.filter((index) => kept.has(index));
    this.page = 0;
    this.show();
  }

  turn(by) {
    this.page += by;
    this.show();
    this.root.querySelector(".scroll").scrollTop = 0;
  }

  // With a number of rows, that many from the first on.
  show(most = null) {
    const total = this.found.length;
    const size = most ?? PAGE;
    const first = most ? 0 : this.page * size;
    const shown = this.found.slice(first, first + size);
    this.body.replaceChildren(...shown.map((index) => this.row(index)));
    if (total === 0) this.body.append(this.nothing());
    const all = total === this.rows.length;
    const of = all ? countText(total) : `${countText(total)} found, of ${countText(this.rows.length)}`;
    this.status.textContent = total
      ? `Rows ${countText(first + 1)} to ${countText(first + shown.length)} of ${of}`
      : `Nothing found among ${countText(this.rows.length)} rows`;
    this.back.disabled = this.page === 0;
    this.next.disabled = first + size >= total;
    for (const one of [this.back, this.next, this.status]) one.hidden = this.rows.length <= size;
    this.saving.textContent = all ? "Save as CSV" : `Save ${countText(total)} rows as CSV`;
    this.saving.disabled = total === 0;
  }

  nothing() {
    const text = this.rows.length ? "No row fits what you look for." : "No rows.";
    return element("tr", { class: "none" }, element("td", { colspan: this.columns.length || 1 }, text));
  }

  row(index) {
    const made = element("tr");
    this.rows[index].forEach((value, at) => {
      const { of } = this.columns[at];
      const cell = at ? element("td") : element("th", { scope: "row" });
      if (NUMERIC.has(of)) cell.className = "number";
      const text = cellText(value, of);
      if (at === 0 && this.onPick) cell.append(this.picker(text, index));
      else cell.append(...wholeWords(text));
      made.append(cell);
    });
    if (this.onPick) {
      made.addEventListener("click", () => this.pick(index));
      made.classList.toggle("on", index === this.picked);
    }
    return made;
  }

  picker(text, index) {
    const made = element("button", { type: "button", class: "pick", "data-index": index }, text);
    made.setAttribute("aria-pressed", index === this.picked);
    made.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const all = [...this.body.querySelectorAll(".pick")];
      const to = all[all.indexOf(made) + by];
      if (to) {
        to.focus();
        this.pick(Number(to.dataset.index));
      }
    });
    return made;
  }

  pick(index) {
    this.picked = index;
    for (const one of this.body.querySelectorAll(".pick")) {
      const on = Number(one.dataset.index) === index;
      one.setAttribute("aria-pressed", on);
      one.closest("tr").classList.toggle("on", on);
    }
    this.onPick(index);
  }

  saveCsv() {
    const name = this.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
    save(`${name || "table"}.csv`, csvText(this.columns, this.found.map((index) => this.rows[index])));
  }
}
