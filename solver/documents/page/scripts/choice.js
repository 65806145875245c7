// One option at a time, as tabs: arrows, Home and End move between them. On paper all options stand below each other.
const MOST_TABS = 12; // more are a list
let choices = 0;

function startList(root, options) {
  const list = element("select", {}, ...options.map((option, at) => {
    return element("option", { value: at }, option.querySelector(".option-name").textContent);
  }));
  const show = () => options.forEach((one, at) => one.toggleAttribute("data-closed", at !== Number(list.value)));
  list.addEventListener("change", show);
  root.classList.add("tabbed");
  root.prepend(element("div", { class: "tools" }, element("label", {}, root.dataset.label, list)));
  show();
}

function startChoice(root) {
  const options = [...root.querySelectorAll(":scope > .option")];
  if (options.length < 2) return;
  if (options.length > MOST_TABS) {
    startList(root, options);
    return;
  }
  choices += 1;
  const label = `choice-${choices}`;
  const tabs = options.map((option, at) => {
    option.id = `${label}-${at + 1}`;
    option.setAttribute("role", "tabpanel");
    const name = option.querySelector(".option-name").textContent;
    const tab = button(name, () => show(at), { role: "tab", id: `${option.id}-tab`, "aria-controls": option.id });
    option.setAttribute("aria-labelledby", tab.id);
    return tab;
  });

  const show = (at) => {
    tabs.forEach((tab, index) => {
      tab.setAttribute("aria-selected", index === at);
      tab.tabIndex = index === at ? 0 : -1;
      options[index].toggleAttribute("data-closed", index !== at);
    });
  };

  const list = element("div", { class: "tabs", role: "tablist", "aria-labelledby": label }, ...tabs);
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    if (at < 0 || !(event.key in moves)) return;
    event.preventDefault();
    const to = (moves[event.key] + tabs.length) % tabs.length;
    show(to);
    tabs[to].focus();
  });
  root.classList.add("tabbed");
  root.prepend(element("p", { class: "tabs-label", id: label }, root.dataset.label), list);
  show(0);
}
