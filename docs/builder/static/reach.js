// What scrolls sideways can be reached, and scrolled, with the keyboard.
function reach() {
  for (const box of document.querySelectorAll(".highlight pre, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", box.matches("pre") ? "Code" : "Table");
    }
  }
}
document.addEventListener("DOMContentLoaded", reach);
window.addEventListener("resize", reach);
