// What the page does once it is there. `data-ready` says that all charts are drawn.
const { charts, tables, records } = JSON.parse(document.getElementById("data").textContent);
// Without scripts all tables behind charts and all notes are open, and no record can be picked.
document.querySelectorAll(".behind, .notes").forEach((one) => (one.open = false));
document.querySelectorAll(".picked").forEach((one) => (one.hidden = false));
const drawing = drawCharts(charts);
const grids = [...document.querySelectorAll(".grid")].map((root) => {
  const table = tables[root.dataset.table];
  const around = root.closest("[data-records]");
  return around ? startRecords(around, root, table, records[around.dataset.records]) : new Grid(root, table);
});
document.querySelectorAll(".cells").forEach(startCells);
document.querySelectorAll(".choice").forEach(startChoice);
document.querySelectorAll(".code").forEach(startCopy);
addEventListener("beforeprint", () => grids.forEach((grid) => grid.show(PRINTED)));
// Notes are printed, whether they are open or not, and are afterwards as they were.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll(".notes:not([open])")];
  folded.forEach((one) => (one.open = true));
});
addEventListener("afterprint", () => folded.forEach((one) => (one.open = false)));
addEventListener("afterprint", () => grids.forEach((grid) => grid.show()));
drawing.then(() => (document.documentElement.dataset.ready = "yes"));
