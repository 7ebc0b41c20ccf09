"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");

  /* ---- light and dark ------------------------------------------------------------------ */
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;

  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    drawAll();
  });
  prefersDark.addEventListener("change", () => drawAll());

  const LIGHT = { ink: "#1b1f24", faint: "#57606a", line: "#d5dae0", grid: "#e6e9ed" };
  const DARK = { ink: "#e8eaed", faint: "#a3adb8", line: "#4a5460", grid: "#2b323b" };
  // Colours that people with any colour vision can tell apart, adapted to the ground.
  const HUES = {
    light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#3aa0d8", "#7a3fa0", "#555555"],
    dark: ["#5ab4f0", "#ff9248", "#3ed3a4", "#eba3cb", "#e9c44a", "#9ad4f7", "#c79bf0", "#c4c4c4"],
  };

  function config(dark, narrow) {
    const tone = dark ? DARK : LIGHT;
    return {
      background: null,
      font: "system-ui, sans-serif",
      view: { stroke: null },
      axis: {
        labelColor: tone.faint, titleColor: tone.ink, gridColor: tone.grid,
        domainColor: tone.line, tickColor: tone.line, labelFontSize: 12, titleFontSize: 12,
        titleFontWeight: "normal",
      },
      legend: {
        labelColor: tone.ink, titleColor: tone.faint, labelFontSize: 12, titleFontWeight: "normal",
        ...(narrow ? { orient: "bottom", columns: 2, labelLimit: 130 } : {}),
      },
      text: { color: tone.ink, fontSize: 12 },
      rule: { color: tone.ink },
      range: {
        category: dark ? HUES.dark : HUES.light,
        diverging: dark ? ["#6db3f2", "#232a33", "#ff9b54"] : ["#1f6fb4", "#f4f4f4", "#c8511b"],
        heatmap: dark ? ["#1d2229", "#79b8ff"] : ["#f2f6fb", "#0b4f8a"],
      },
      mark: { color: dark ? HUES.dark[0] : HUES.light[0] },
      aria: true,
    };
  }

  /* ---- charts -------------------------------------------------------------------------- */
  for (const chart of charts) {
    chart.element = document.getElementById(chart.id);
    chart.drawing = chart.element.querySelector(".drawing");
    chart.values = chart.columns.map(({ names, values }) =>
      names ? values.map((place) => names[place]) : values);
    chart.distinct = (field) =>
      [...new Set(chart.values[chart.fields.indexOf(field)])];
    chart.element.querySelectorAll("select").forEach((select) =>
      select.addEventListener("change", () => draw(chart)));
    chart.element.querySelectorAll(".actions button").forEach((button) =>
      button.addEventListener("click", () => act(chart, button)));
  }

  function rows(chart, all = false) {
    const filters = all ? [] : [...chart.element.querySelectorAll("select")].map((select) => [
      chart.fields.indexOf(select.dataset.field),
      chart.distinct(select.dataset.field)[Number(select.value)],
    ]);
    const found = [];
    const n = chart.values.length ? chart.values[0].length : 0;
    for (let i = 0; i < n; i++) {
      if (filters.every(([place, wanted]) => chart.values[place][i] === wanted)) {
        found.push(Object.fromEntries(chart.fields.map((f, j) => [f, chart.values[j][i]])));
      }
    }
    return found;
  }

  function embed(chart, target, dark, width) {
    const spec = structuredClone(chart.spec);
    spec.data = { values: rows(chart) };
    if (width) spec.width = width;
    if (spec.height.step) {  // as high as there are names to show
      spec.height = spec.height.step * new Set(spec.data.values.map((row) => row.y)).size;
    }
    const narrow = (width || target.clientWidth) < 560;
    return window.vegaEmbed(target, spec, {
      renderer: "svg", actions: false, config: config(dark, narrow), tooltip: { theme: dark ? "dark" : "light" },
    });
  }

  async function draw(chart) {
    chart.embedded?.finalize();
    chart.embedded = await embed(chart, chart.drawing, isDark() && !printing.matches);
    const numbers = chart.element.querySelector(".numbers");
    if (!numbers.hidden) showNumbers(chart, numbers);
  }

  function drawAll() {
    return Promise.all(charts.map(draw));
  }

  // Pictures for papers and slides: always on white, whatever the page looks like.
  async function picture(chart, kind) {
    const aside = document.createElement("div");
    aside.style.cssText = "position:absolute;left:-10000px;width:900px";
    document.body.append(aside);
    const { view, finalize } = await embed(chart, aside, false, 700);
    view.background("white");
    await view.runAsync();
    const svg = await view.toSVG();
    const png = kind === "png" ? await view.toImageURL("png", 2) : null;
    finalize();
    aside.remove();
    return kind === "svg" ? URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })) : png;
  }

  async function act(chart, button) {
    const kind = button.dataset.action;
    if (kind === "numbers") {
      const numbers = chart.element.querySelector(".numbers");
      numbers.hidden = !numbers.hidden;
      button.setAttribute("aria-expanded", String(!numbers.hidden));
      button.textContent = numbers.hidden ? "Show numbers" : "Hide numbers";
      if (!numbers.hidden) showNumbers(chart, numbers);
    } else if (kind === "csv") {
      const lines = [chart.titles, ...rows(chart, true).map((row) => chart.fields.map((f) => row[f]))];
      save(csv(lines), `${chart.file}.csv`);
    } else {
      download(await picture(chart, kind), `${chart.file}.${kind}`);
    }
  }

  const MOST_NUMBERS = 400;
  function showNumbers(chart, place) {
    const found = rows(chart);
    const table = document.createElement("table");
    const add = (parent, kind, text) => {
      const cell = document.createElement(kind);
      cell.textContent = text ?? "";
      parent.append(cell);
    };
    const head = table.createTHead().insertRow();
    chart.titles.forEach((title) => add(head, "th", title));
    const body = table.createTBody();
    found.slice(0, MOST_NUMBERS).forEach((row) => {
      const line = body.insertRow();
      chart.fields.forEach((f) => add(line, "td", typeof row[f] === "number" ? +row[f].toPrecision(5) : row[f]));
    });
    place.replaceChildren(table);
    if (found.length > MOST_NUMBERS) {
      const more = document.createElement("p");
      more.textContent = `The first ${MOST_NUMBERS} of ${found.length} rows; the CSV file has all.`;
      place.append(more);
    }
  }

  /* ---- tables -------------------------------------------------------------------------- */
  document.querySelectorAll(".table").forEach((element) => {
    const table = element.querySelector("table");
    const body = table.tBodies[0];
    const output = element.querySelector("output");
    const search = element.querySelector("input");
    const more = element.querySelector("[data-action=more]");
    const limit = () => (more && !more.dataset.open ? Number(more.dataset.shown) : Infinity);
    const headers = [...table.tHead.rows[0].cells];

    function refresh() {
      const wanted = search ? search.value.trim().toLowerCase() : "";
      let matching = 0;
      for (const row of body.rows) {
        const hit = !wanted || row.textContent.toLowerCase().includes(wanted);
        if (hit) matching += 1;
        row.hidden = !hit || (!wanted && matching > limit());
      }
      output.textContent = wanted ? `${matching} of ${body.rows.length} rows` : "";
    }

    function value(row, column) {
      const cell = row.cells[column];
      const text = cell.dataset.value ?? cell.textContent;
      return headers[column].classList.contains("number") && text !== "" ? Number(text) : text;
    }

    headers.forEach((header, column) =>
      header.querySelector("button").addEventListener("click", () => {
        const numeric = header.classList.contains("number");
        const now = header.getAttribute("aria-sort");
        // Numbers start with the largest, names with the first.
        const order = now ? (now === "ascending" ? "descending" : "ascending") : numeric ? "descending" : "ascending";
        headers.forEach((other) => other.removeAttribute("aria-sort"));
        header.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const sorted = [...body.rows].sort((a, b) => {
          const [x, y] = [value(a, column), value(b, column)];
          if (x === "" || y === "") return (x === "") - (y === "");  // empty cells stay last
          return sign * (typeof x === "number" && typeof y === "number" ? x - y
            : String(x).localeCompare(String(y), undefined, { numeric: true }));
        });
        body.append(...sorted);
        refresh();
      }));
    search?.addEventListener("input", refresh);
    more?.addEventListener("click", () => {
      if (more.dataset.open) delete more.dataset.open;
      else more.dataset.open = "yes";
      more.textContent = more.dataset.open ? "Show fewer" : `Show all ${body.rows.length} rows`;
      refresh();
    });
    element.querySelector("[data-action=csv]").addEventListener("click", () => {
      const lines = [...table.rows].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent));
      const name = element.querySelector("h3").textContent.toLowerCase().replace(/[^a-z0-9]+/g, "-");
      save(csv(lines), `${name}.csv`);
    });
  });

  /* ---- files --------------------------------------------------------------------------- */
  function csv(lines) {
    const quoted = (cell) => {
      const text = cell === null || cell === undefined ? "" : String(cell);
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
  }

  function save(text, name) {
    download(URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" })), name);
  }

  function download(address, name) {
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    if (address.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  document.querySelectorAll("[data-action=copy]").forEach((button) =>
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select the text and copy it";
      }
    }));

  /* ---- begin ---------------------------------------------------------------------------- */
  let lastWidth = window.innerWidth;
  window.addEventListener("resize", () => {
    // Only crossing the narrow limit changes the layout; Vega follows the width by itself.
    if ((lastWidth < 640) !== (window.innerWidth < 640)) drawAll();
    lastWidth = window.innerWidth;
  });
  printing.addEventListener("change", () => drawAll());
  drawAll().then(() => { root.dataset.ready = "yes"; });
})();
