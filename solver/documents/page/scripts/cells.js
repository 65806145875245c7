// A statistical table: arrows move from cell to cell, and the line below says all that is known of one.
function startCells(root) {
  const table = root.querySelector("table");
  const said = root.querySelector(".said");
  const usual = said.textContent;
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  let at = null;

  const sentence = (cell) => {
    const names = [cell.parentElement.cells[0], heads[cell.cellIndex]].map((one) => one.textContent.trim());
    const value = cell.querySelector(".v")?.textContent || NOTHING;
    const note = cell.querySelector(".hidden")?.textContent.replace(/^, /, "");
    return `${names.filter((one) => one).join(" × ")}: ${value}${note ? `; ${note}` : ""}`;
  };
  const say = (cell) => {
    said.textContent = cell ? sentence(cell) : usual;
  };
  // One cell at a time can be reached by Tab. The one that had the focus must not lose that before it is elsewhere.
  const go = (cell) => {
    cell.tabIndex = 0;
    cell.focus();
  };
  const arrived = (cell) => {
    if (at !== cell) at?.removeAttribute("tabindex");
    at = cell;
    say(at);
  };
  const cellOf = (event) => {
    const cell = event.target.closest("td");
    return cell && table.contains(cell) ? cell : null;
  };

  table.setAttribute("role", "grid");
  table.setAttribute("aria-readonly", "true");
  if (rows.length && rows[0].length) {
    at = rows[0][0];
    at.tabIndex = 0;
  }
  table.addEventListener("mouseover", (event) => say(cellOf(event) ?? (at === document.activeElement ? at : null)));
  table.addEventListener("mouseleave", () => say(at === document.activeElement ? at : null));
  table.addEventListener("focusin", (event) => cellOf(event) && arrived(cellOf(event)));
  table.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (cell) go(cell);
  });
  table.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    const row = cell.parentElement.sectionRowIndex;
    const column = cell.cellIndex - 1;
    const last = [rows.length - 1, rows[0].length - 1];
    const to = {
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      Home: [event.ctrlKey ? 0 : row, 0],
      End: [event.ctrlKey ? last[0] : row, last[1]],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    go(rows[Math.min(Math.max(to[0], 0), last[0])][Math.min(Math.max(to[1], 0), last[1])]);
  });
}
