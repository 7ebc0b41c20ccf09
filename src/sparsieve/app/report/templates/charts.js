/* Charts: colours, drawing, pictures and numbers. ------------------------------------------- */
const root = document.documentElement;
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const printing = window.matchMedia("print");

const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;

const LIGHT = { ink: "#1b1f24", faint: "#57606a", line: "#d5dae0", grid: "#e6e9ed" };
const DARK = { ink: "#e8eaed", faint: "#b4bdc7", line: "#4a5460", grid: "#2b323b" };
// Colours that people with any colour vision can tell apart, adapted to the ground.
const HUES = embedded("palettes");
// Maps: the ends must stand out from the ground, and so must the middle, or cells look missing.
const MAPS = {
  light: {
    diverging: ["#1f6fb4", "#f4f4f4", "#c8511b"], heatmap: ["#eef4fb", "#0b4f8a"],
    ramp: ["#a8cbe6", "#4a7fb5", "#0a2f5c"], weak: "#1b1f24", strong: "#ffffff",
  },
  dark: {
    diverging: ["#58b0ff", "#39434f", "#ff9a4d"], heatmap: ["#2f3945", "#8cc6ff"],
    ramp: ["#3f6a94", "#7fb4e0", "#e3f1ff"], weak: "#e8eaed", strong: "#0d1117",
  },
};

const MOST_BESIDE = 17;  // characters of names that have room in two columns of a narrow window

function config(dark, narrow, longest) {
  const tone = dark ? DARK : LIGHT;
  const maps = dark ? MAPS.dark : MAPS.light;
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
      labelLimit: 220, titleLimit: 0,
      ...(narrow ? { orient: "bottom", columns: longest > MOST_BESIDE ? 1 : 2, gradientLength: 140 } : {}),
      layout: { bottom: { direction: narrow ? "vertical" : "horizontal" } },
    },
    text: { color: tone.ink, fontSize: 12 },
    rule: { color: tone.ink },
    style: { "on-weak": { color: maps.weak }, "on-strong": { color: maps.strong } },
    range: {
      category: dark ? HUES.dark : HUES.light,
      diverging: maps.diverging, heatmap: maps.heatmap, ramp: maps.ramp,
    },
    mark: { color: dark ? HUES.dark[0] : HUES.light[0] },
    aria: true,
  };
}

const charts = embedded("charts");
const chartById = new Map(charts.map((chart) => [chart.id, chart]));

for (const chart of charts) {
  chart.element = document.getElementById(chart.id);
  chart.drawing = chart.element.querySelector(".drawing");
  chart.values = chart.columns.map((column) => unpack(column).values);
  chart.selects = [...chart.element.querySelectorAll("select")];
  chart.step = null;  // [field, value] that a slider asks for
  chart.selects.forEach((select) => select.addEventListener("change", () => draw(chart)));
  chart.element.querySelectorAll(".actions button").forEach((button) =>
    button.addEventListener("click", () => act(chart, button)));
}

function distinct(chart, field) {
  return [...new Set(chart.values[chart.fields.indexOf(field)])];
}

// What is shown now; of all that a reader can choose where the file wants everything.
function rows(chart, all = false) {
  if (chart.source) return chart.source();
  const wanted = all ? [] : chart.selects.map((select) => [
    select.dataset.field, distinct(chart, select.dataset.field)[Number(select.value)],
  ]);
  if (chart.step && !all) wanted.push(chart.step);
  const filters = wanted.map(([field, value]) => [chart.values[chart.fields.indexOf(field)], value]);
  const found = [];
  const n = chart.values.length ? chart.values[0].length : 0;
  for (let i = 0; i < n; i++) {
    if (filters.every(([values, value]) => values[i] === value)) {
      found.push(Object.fromEntries(chart.fields.map((f, j) => [f, chart.values[j][i]])));
    }
  }
  return found;
}

// Vega keeps names as keys of plain objects, where "constructor", "__proto__" and their kin are
// taken: an invisible character in front makes them names like others.
const safe = (value) => (typeof value === "string" && value in Object.prototype ? `\u200b${value}` : value);
const safeRow = (row) => Object.fromEntries(Object.entries(row).map(([field, value]) => [field, safe(value)]));
const safeDomain = (key, value) => (key === "domain" && Array.isArray(value) ? value.map(safe) : value);

function embed(chart, target, dark, width) {
  const spec = JSON.parse(JSON.stringify(chart.spec), safeDomain);
  const found = rows(chart);
  spec.data = { values: (chart.adorned ? chart.adorned(found) : found).map(safeRow) };
  if (width) spec.width = width;
  if (spec.height.step) {  // as high as there are names to show
    spec.height = spec.height.step * Math.max(1, new Set(found.map((row) => row.y)).size);
  }
  if (chart.marker !== undefined) spec.params.find(({ name }) => name === "marker").value = chart.marker;
  const narrow = (width || target.clientWidth) < 560;
  const longest = Math.max(0, ...found.map((row) => String(row.series ?? "").length));
  return window.vegaEmbed(target, spec, {
    renderer: "svg", actions: false, config: config(dark, narrow, longest), tooltip: { theme: dark ? "dark" : "light" },
  });
}

// One drawing at a time; who asks meanwhile gets one more at the end.
function draw(chart) {
  chart.asked = (chart.asked ?? 0) + 1;
  chart.busy ??= (async () => {
    for (let answered = 0; answered !== chart.asked;) {
      answered = chart.asked;
      chart.drawing.style.minHeight = `${chart.drawing.offsetHeight}px`;  // the page must not jump
      chart.embedded?.finalize();
      chart.embedded = await embed(chart, chart.drawing, isDark() && !printing.matches);
      chart.drawing.style.minHeight = "";
    }
    const numbers = chart.element.querySelector(".numbers");
    if (!numbers.hidden) showNumbers(chart, numbers);
    chart.busy = null;
  })();
  return chart.busy;
}

// What is folded has no width: it is drawn when it is unfolded.
function drawVisible() {
  const due = charts.filter((chart) => chart.stale && !chart.waits && !chart.element.closest("details:not([open])"));
  return Promise.all(due.map((chart) => {
    chart.stale = false;
    return draw(chart);
  }));
}

function drawAll() {
  charts.forEach((chart) => { chart.stale = true; });
  return drawVisible();
}

// Pictures for papers and slides: always on white, whatever the page looks like.
async function picture(chart, kind) {
  const aside = make("div");
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
    const lines = rows(chart, true).map((row) => chart.fields.map((f) => row[f]));
    saveTable([chart.titles, ...lines], `${chart.file}.csv`);
  } else {
    download(await picture(chart, kind), `${chart.file}.${kind}`);
  }
}

const MOST_NUMBERS = 400;
function showNumbers(chart, place) {
  const found = rows(chart);
  const table = make("table");
  const head = table.createTHead().insertRow();
  head.append(...chart.titles.map((title) => make("th", title)));
  const body = table.createTBody();
  found.slice(0, MOST_NUMBERS).forEach((row) => {
    body.insertRow().append(...chart.fields.map((f) => make("td", shown(row[f], 5))));
  });
  place.replaceChildren(table);
  if (found.length > MOST_NUMBERS) {
    place.append(make("p", `The first ${MOST_NUMBERS} of ${found.length} rows; the CSV file has all.`));
  }
}
