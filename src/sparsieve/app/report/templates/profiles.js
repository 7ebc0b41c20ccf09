/* One feature: its values, its ranks, what could stand in for it. -------------------------- */
if (known) {
  const dialog = document.getElementById("profile");
  const part = (name) => dialog.querySelector(`[data-part=${name}]`);
  const chart = chartById.get("profile-chart");
  const MISSING = 255;
  const LEVELS = 254;

  const levels = Uint8Array.from(atob(known.levels), (character) => character.charCodeAt(0));
  const stored = known.ranges.length;
  const perFeature = stored ? levels.length / stored : 0;
  const substitutes = new Map();
  for (const [feature, other, correlation] of known.substitutes) {
    if (!substitutes.has(feature)) substitutes.set(feature, []);
    substitutes.get(feature).push([other, correlation]);
  }
  const ranks = known.ranks.map((column) => ({ method: column.method, ...unpack(column) }));
  let current = 0;
  chart.waits = true;  // drawn when somebody asks

  function value(feature, sample) {
    const level = levels[feature * perFeature + sample];
    const [low, high] = known.ranges[feature];
    return level === MISSING ? null : low + (level / LEVELS) * (high - low);
  }

  // Rows of several targets repeat the samples.
  chart.source = () => {
    const found = [];
    const place = (field) => chart.values[chart.fields.indexOf(field)];
    const [y, series] = [place("y"), place("series")];
    for (let i = 0; i < y.length; i++) {
      const x = value(current, i % perFeature);
      if (x !== null) found.push({ x, y: y[i], ...(series ? { series: series[i] } : {}) });
    }
    return found;
  };

  function quantile(sorted, share) {
    const place = (sorted.length - 1) * share;
    const below = Math.floor(place);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  // Boxes are computed here: Vega would group by names as by properties of an object.
  function withBoxes(found) {
    const groups = new Map();
    for (const row of found) {
      if (!groups.has(row.y)) groups.set(row.y, []);
      groups.get(row.y).push(row.x);
    }
    const made = [];
    for (const [y, values] of groups) {
      values.sort((a, b) => a - b);
      const [low, q1, median, q3, high] = [0, 0.25, 0.5, 0.75, 1].map((share) => quantile(values, share));
      made.push({ part: "range", y, x: low, x2: high }, { part: "box", y, x: q1, x2: q3 }, { part: "median", y, x: median });
    }
    const golden = 0.6180339887;  // spreads dots evenly, and the same way every time
    return [...made, ...found.map((row, i) => ({ part: "dot", ...row, jitter: (i * golden) % 1 }))];
  }
  if (chart.spec.usermeta?.boxes) chart.adorned = withBoxes;

  function fillRanks(feature) {
    const lines = ranks.map(({ method, values }) => {
      const line = make("tr");
      const rank = values[feature];
      const where = rank === null ? "not ranked" : `${rank.toLocaleString("en-US")} of ${values.length.toLocaleString("en-US")}`;
      line.append(breakable(make("th", undefined, { scope: "row" }), method), make("td", where, { class: "number" }));
      return line;
    });
    part("ranks").replaceChildren(...lines);
  }

  function fillSubstitutes(feature) {
    const others = substitutes.get(feature) ?? [];
    part("substitutes").replaceChildren(...others.map(([other, correlation]) => {
      const item = make("li");
      item.append(featureButton(known.names[other], other), ` correlation ${shown(correlation, 3)}`);
      return item;
    }));
    part("no-substitutes").hidden = others.length > 0;
  }

  function show(feature) {
    current = feature;
    const heading = dialog.querySelector("h2");
    heading.replaceChildren();
    breakable(heading, known.names[feature]);
    fillRanks(feature);
    fillSubstitutes(feature);
    const hasValues = feature < stored;
    chart.element.hidden = !hasValues;
    part("no-values").hidden = hasValues;
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    chart.waits = !hasValues;
    if (hasValues) draw(chart);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.feature");
    if (button) show(Number(button.dataset.feature));
    else if (event.target === dialog) dialog.close();  // beside it
  });
  dialog.querySelector("[data-action=close]").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => { chart.waits = true; });
}
