// Ticked boxes hide the rows of methods that do not do all of it.
document.addEventListener("DOMContentLoaded", () => {
  const boxes = document.querySelectorAll(".method-filters input");
  const show = () => {
    const wanted = [...boxes].filter((box) => box.checked).map((box) => box.value);
    for (const row of document.querySelectorAll("table.methods tbody tr")) {
      const has = row.dataset.purposes.split(" ");
      row.hidden = !wanted.every((purpose) => has.includes(purpose));
    }
  };
  boxes.forEach((box) => box.addEventListener("change", show));
});
