// The record that is picked: what each attribute adds to its distances.
const TO = [
  ["partner", "its partner"],
  ["rival", "its nearest rival"],
];

function startRecords(root, around, table, contributions) {
  const which = root.querySelector(".which");
  const below = root.querySelector(".numbers-of");
  const chart = root.querySelector("[data-chart]");

  const pick = async (index) => {
    const sides = TO.filter(([key]) => contributions[key][index]?.length);
    const rows = sides.flatMap(([key]) =>
      contributions.attributes.map((attribute, at) => ({ attribute, to: key, contribution: contributions[key][index][at] })),
    );
    const record = cellText(table.rows[index][0], table.columns[0].of);
    which.textContent = rows.length
      ? `Record ${record}: its distance to ${sides.map(([, words]) => words).join(" and to ")}.`
      : `Record ${record}: its distances are not known, as of a record that has no partner.`;
    chart.hidden = rows.length === 0;
    below.replaceChildren(...(rows.length ? [numbersOf(index, sides)] : []));
    const view = await viewOf(chart.id);
    if (!view || rows.length === 0) return;
    await view.data("picked", rows).resize().runAsync();
    root.dataset.shown = index;
  };

  const numbersOf = (index, sides) => {
    const head = ["Attribute", ...sides.map(([, words]) => `To ${words}`)];
    const lines = contributions.attributes.map((attribute, at) => [
      attribute,
      ...sides.map(([key]) => contributions[key][index][at]),
    ]);
    const cells = (line) =>
      line.map((value, at) =>
        element(at ? "td" : "th", at ? { class: "number" } : { scope: "row" }, cellText(value, at ? "number" : "text")),
      );
    const made = element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...head.map((text, at) => element("th", { scope: "col", class: at ? "number" : "" }, text)))),
      element("tbody", {}, ...lines.map((line) => element("tr", {}, ...cells(line)))),
    );
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of this chart" }, made);
    return element("details", { class: "behind", ...(opened() ? { open: "" } : {}) }, element("summary", {}, "The numbers of this chart"), scroll);
  };
  const opened = () => below.querySelector("details")?.open;

  root.classList.add("can-pick");
  const grid = new Grid(around, table, pick);
  const known = table.rows.findIndex((_, index) => TO.some(([key]) => contributions[key][index]?.length));
  if (table.rows.length) grid.pick(Math.max(known, 0));
  else root.querySelector(".picked").hidden = true;
  return grid;
}
