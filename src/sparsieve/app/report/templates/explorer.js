/* A slider over the number of features. ------------------------------------------------------ */
for (const explorer of embedded("explorers")) {
  const element = document.getElementById(explorer.id);
  const slider = element.querySelector("input[type=range]");
  const list = element.querySelector(".selection");
  const told = element.querySelector(".told");
  const count = element.querySelector("output");
  const moved = explorer.charts.map((id) => chartById.get(id));
  const marked = charts.filter((chart) => chart.spec.params?.some(({ name }) => name === "marker"));

  function go(step) {
    const { k, names, text, ranks } = explorer.steps[step];
    const { values, features } = unpack(names);
    const items = values.map((name, i) => {
      const item = make("li");
      item.dataset.rank = ranks ? ranks[i] : i + 1;
      if (features) item.append(featureButton(name, features[i]));
      else breakable(item, name);
      return item;
    });
    list.replaceChildren(...items);
    told.replaceChildren(...text.map((sentence) => make("p", sentence)));
    const words = `${k} ${explorer.unit}${k === 1 ? "" : "s"}`;
    count.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    moved.forEach((chart) => { chart.step = ["k", k]; });
    marked.forEach((chart) => { chart.marker = k; });
  }

  moved.forEach((chart) => { chart.step = ["k", explorer.steps.at(-1).k]; });
  slider?.addEventListener("input", () => {
    go(Number(slider.value));
    moved.forEach(draw);
    marked.forEach((chart) => chart.embedded?.view.signal("marker", chart.marker).runAsync());
  });
}
