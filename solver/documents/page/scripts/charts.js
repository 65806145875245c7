// Charts take the colours of the page for whatever their definition leaves open, so that paper and dark follow.
const FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, "Liberation Sans", sans-serif';
const LETTERS = { labelColor: "currentColor", titleColor: "currentColor" };
const CHART_CONFIG = {
  background: "transparent",
  font: FONT,
  aria: false,
  view: { stroke: null },
  axis: { ...LETTERS, domainColor: "currentColor", tickColor: "currentColor", gridColor: "currentColor", gridOpacity: 0.15 },
  legend: LETTERS,
  header: LETTERS,
  title: { color: "currentColor", subtitleColor: "currentColor" },
};
const views = new Map();
let specs = {};

// The view of a chart, drawn now unless it was before; null when it cannot be drawn.
function viewOf(place) {
  if (!views.has(place)) views.set(place, drawChart(document.getElementById(place), specs[place]));
  return views.get(place);
}

async function drawChart(root, spec) {
  try {
    const options = { ast: true, actions: false, renderer: "svg", config: CHART_CONFIG, tooltip: { theme: "page" }, logLevel: 1 };
    const { view } = await window.vegaEmbed(root, spec, options);
    root.querySelector("svg")?.setAttribute("aria-hidden", "true"); // its place has the description
    return view;
  } catch (error) {
    console.error(error);
    root.classList.add("failed");
    root.textContent = "This chart could not be drawn. Its numbers are below.";
    return null;
  }
}

// One after the other, so that the page answers in between.
async function drawCharts(all) {
  specs = all;
  for (const place of Object.keys(all)) {
    await viewOf(place);
    await new Promise((go) => setTimeout(go, 0));
  }
}
