// Filters the tables of rules: what is chosen above them hides the rows that do not fit.
document$.subscribe(() => {
  const place = document.getElementById("rule-filter");
  if (!place) return;
  const rows = [...document.querySelectorAll(".md-typeset table tbody tr")];
  const column = { effect: 3, worth: 4, fix: 5, torch: 6 };
  const values = (name) => {
    const cells = rows.map((row) => row.cells[column[name]].textContent.replaceAll("?", ""));
    return [...new Set(cells.flatMap((text) => text.split(", ")).map((text) => text.trim()))].sort();
  };
  const inputs = {};
  for (const name of Object.keys(column)) {
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.append(new Option("any", ""));
    for (const value of values(name)) if (value) select.append(new Option(value, value));
    label.append(name, select);
    place.append(label);
    inputs[name] = select;
  }
  const label = document.createElement("label");
  const text = document.createElement("input");
  text.type = "search";
  label.append("words", text);
  const count = document.createElement("output");
  place.append(label, count);

  const show = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits =
        Object.entries(inputs).every(([name, select]) => {
          const cell = row.cells[column[name]].textContent.replaceAll("?", "");
          return !select.value || cell.split(", ").map((one) => one.trim()).includes(select.value);
        }) && words.every((word) => row.textContent.toLowerCase().includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    for (const table of document.querySelectorAll(".md-typeset table")) {
      const empty = ![...table.tBodies[0].rows].some((row) => !row.hidden);
      const box = table.closest(".md-typeset__scrollwrap") ?? table;
      box.hidden = empty;
      const heading = box.previousElementSibling;
      if (heading?.tagName === "H2") heading.hidden = empty;
    }
    count.textContent = `${shown} of ${rows.length} rules`;
  };
  place.addEventListener("input", show);
  show();
});

// What scrolls can be reached by keys.
document$.subscribe(() => {
  for (const box of document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset__table")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
