// Commands are copied as they are.
function startCopy(root) {
  const text = root.querySelector("code");
  const said = button("Copy", async () => {
    const selection = getSelection();
    selection.selectAllChildren(text);
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      document.execCommand("copy"); // where a browser does not let a file use the clipboard
    }
    said.textContent = "Copied";
    setTimeout(() => (said.textContent = "Copy"), 2000);
  });
  root.append(said);
}
