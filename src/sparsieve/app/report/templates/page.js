/* The page itself. ---------------------------------------------------------------------------- */
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  drawAll();
});
prefersDark.addEventListener("change", () => drawAll());
printing.addEventListener("change", () => {
  if (printing.matches) unfold(true);
  drawAll();
});

// Details on demand.
const folds = [...document.querySelectorAll("details")];
const unfoldAll = document.getElementById("unfold");
folds.forEach((fold) => fold.addEventListener("toggle", () => drawVisible()));
function unfold(all) {
  folds.forEach((fold) => { fold.open = all; });
  unfoldAll.setAttribute("aria-pressed", String(all));
  unfoldAll.textContent = all ? "Fold all" : "Unfold all";
}
unfoldAll.addEventListener("click", () => unfold(unfoldAll.getAttribute("aria-pressed") !== "true"));
window.addEventListener("beforeprint", () => unfold(true));
function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target?.closest("details");
  if (!fold) return;
  fold.open = true;
  target.scrollIntoView();
}
window.addEventListener("hashchange", unfoldTarget);
unfoldTarget();

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

// What is wider than the screen says so, and at which side there is more.
const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => hint(target.closest(".scroller"))));
function hint(scroller) {
  const hidden = scroller.scrollWidth - scroller.clientWidth;
  scroller.classList.toggle("more-right", hidden > 1 && scroller.scrollLeft < hidden - 1);
  scroller.classList.toggle("more-left", hidden > 1 && scroller.scrollLeft > 1);
  scroller.parentElement.classList.toggle("scrolls", hidden > 1);
}
document.querySelectorAll(".scroller").forEach((scroller) => {
  watch.observe(scroller);
  watch.observe(scroller.firstElementChild);
  scroller.addEventListener("scroll", () => hint(scroller), { passive: true });
});

let lastWidth = window.innerWidth;
window.addEventListener("resize", () => {
  // Only crossing the narrow limit changes the layout; Vega follows the width by itself.
  if ((lastWidth < 640) !== (window.innerWidth < 640)) drawAll();
  lastWidth = window.innerWidth;
});

drawAll().then(() => { root.dataset.ready = "yes"; });
