// Filters the table of rules, and keeps what is chosen in the address, so that it can be sent to somebody.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector(".rule-filters");
  if (!form) return;
  const rows = [...document.querySelectorAll(".rule-table tbody tr")];
  const count = form.querySelector(".rule-count");
  const fields = [...form.elements].filter((field) => field.name);

  function fits(row) {
    return fields.every((field) => {
      const wanted = field.value.trim().toLowerCase();
      if (!wanted) return true;
      if (field.name === "text") return wanted.split(/\s+/).every((word) => (row.textContent + row.dataset.text).toLowerCase().includes(word));
      const has = row.dataset[field.name];
      return field.name === "fix" ? has.split(" or ").includes(wanted) : has === wanted;
    });
  }

  function filter() {
    const shown = rows.filter((row) => {
      row.hidden = !fits(row);
      return !row.hidden;
    });
    count.textContent = `${shown.length} of ${rows.length} rules`;
    const chosen = fields.filter((field) => field.value).map((field) => [field.name, field.value]);
    const query = new URLSearchParams(chosen).toString();
    try {
      history.replaceState(null, "", (query ? "?" + query : location.pathname) + location.hash);
    } catch {
      // of a file, some browsers do not let the address be changed
    }
  }

  const asked = new URLSearchParams(location.search);
  for (const field of fields) if (asked.has(field.name)) field.value = asked.get(field.name);
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
});
