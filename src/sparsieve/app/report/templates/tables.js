/* Tables: the page holds their first rows, the data all of them. --------------------------- */
const widthClass = (text) => (text.length <= 22 ? "brief" : text.length <= 45 ? "short" : "long");
const collator = new Intl.Collator(undefined, { numeric: true });

for (const table of embedded("tables")) {
  const element = document.getElementById(table.id);
  const body = element.querySelector("tbody");
  const output = element.querySelector("output");
  const search = element.querySelector("input");
  const more = element.querySelector("[data-action=more]");
  const headers = [...element.querySelectorAll("thead th")];
  const columns = table.columns.map((column) => ({ ...column, ...unpack(column) }));
  const count = columns.length ? columns[0].values.length : 0;
  let order = Array.from({ length: count }, (_, i) => i);
  let words = null;  // the text of every row, for searching

  const text = (column, i) => shown(column.values[i], column.digits);
  const isNumeric = (column) => column.digits !== undefined;

  function built(i) {
    const row = make("tr");
    for (const column of columns) {
      const cell = make("td");
      if (isNumeric(column)) {
        cell.className = "number";
        cell.textContent = text(column, i);
      } else {
        cell.className = widthClass(text(column, i));
        if (column.features) cell.append(featureButton(column.values[i], column.features[i]));
        else breakable(cell, text(column, i));
      }
      row.append(cell);
    }
    return row;
  }

  function refresh() {
    const wanted = search ? search.value.trim().toLowerCase() : "";
    let found = order;
    if (wanted) {
      words ??= order.slice().sort((a, b) => a - b)
        .map((i) => columns.map((column) => text(column, i)).join("\t").toLowerCase());
      found = order.filter((i) => words[i].includes(wanted));
    } else if (more && !more.dataset.open) {
      found = order.slice(0, table.shown);
    }
    body.replaceChildren(...found.map(built));
    output.textContent = wanted ? `${found.length} of ${count} rows` : "";
  }

  headers.forEach((header, place) =>
    header.querySelector("button").addEventListener("click", () => {
      const column = columns[place];
      const now = header.getAttribute("aria-sort");
      // Numbers start with the largest, names with the first.
      const first = isNumeric(column) ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const direction = now === first ? second : first;
      headers.forEach((other) => other.setAttribute("aria-sort", "none"));
      header.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      const isEmpty = (value) => value === null || value === "";
      order = order.slice().sort((a, b) => {
        const [x, y] = [column.values[a], column.values[b]];
        if (isEmpty(x) || isEmpty(y)) return isEmpty(x) - isEmpty(y);  // empty cells stay last
        return sign * (isNumeric(column) ? x - y : collator.compare(String(x), String(y)));
      });
      refresh();
    }));
  search?.addEventListener("input", refresh);
  more?.addEventListener("click", () => {
    if (more.dataset.open) delete more.dataset.open;
    else more.dataset.open = "yes";
    more.textContent = more.dataset.open ? "Show fewer" : `Show all ${count.toLocaleString("en-US")} rows`;
    refresh();
  });
  element.querySelector("[data-action=csv]").addEventListener("click", () => {
    const lines = order.map((i) => columns.map((column) => column.values[i]));
    saveTable([columns.map((column) => column.title), ...lines], `${table.file}.csv`);
  });
}
