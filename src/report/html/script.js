"use strict";

// Tables are sorted by a click on a heading: numbers from the largest, texts from A.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const isNumber = head.classList.contains("number");
    const value = (row) => {
      const cell = row.cells[at];
      if (!isNumber) return cell.textContent;
      return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
    };
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const isUp = before ? before === "descending" : !isNumber;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      const compare = (a, b) => {
        if (!isNumber) return isUp ? a.localeCompare(b) : b.localeCompare(a);
        // What was not measured stands last in either direction.
        if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
        return isUp ? a - b : b - a;
      };
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => compare(value(a), value(b)));
      table.tBodies[0].append(...rows);
    });
  });
}

// A link opens what it leads to.
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();

// On paper nothing can be unfolded: what falls to whom is read in its tables, bars of a distribution in their picture.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("#breakdowns details.numbers:not([open])")];
  unfolded.forEach((box) => { box.open = true; });
});
addEventListener("afterprint", () => unfolded.forEach((box) => { box.open = false; }));

// Light and dark.
const root = document.documentElement;
const theme = document.createElement("button");
const isDark = () =>
  (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
theme.type = "button";
theme.className = "theme";
theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  name();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
name();
document.querySelector("header.page").prepend(theme);
