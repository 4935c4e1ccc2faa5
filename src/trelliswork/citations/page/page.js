"use strict";
// Orders, filters and searches the references; keeps what was chosen in the address after "#".
(() => {
  const main = document.querySelector("main");
  const form = document.querySelector(".controls");
  const cards = [...main.querySelectorAll("article")].map((element, place) => {
    const fields = new Map();
    for (const told of element.dataset.fields.split(" ")) {
      const [label, sure] = told.split(":");
      if (label) fields.set(label, Number(sure));
    }
    return { element, place, fields, sure: Number(element.dataset.sure), text: null };
  });
  const { sort, field, below, changed, text } = form.elements;
  const buttons = new Map();

  const textOf = (card) => {
    const parts = card.element.querySelectorAll(".text, pre");
    card.text ??= [...parts].map((part) => part.textContent).join("\n").toLowerCase();
    return card.text;
  };
  const sureOf = (card) => (field.value ? (card.fields.get(field.value) ?? 2) : card.sure);

  function shows(card, wanted) {
    if (field.value && !card.fields.has(field.value)) return false;
    if (below.value < 100 && sureOf(card) >= below.value / 100) return false;
    if (changed.checked && !("changed" in card.element.dataset)) return false;
    return !wanted || textOf(card).includes(wanted);
  }

  function apply() {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    for (const card of cards) {
      card.element.hidden = !shows(card, wanted);
      count += !card.element.hidden;
    }
    const ordered = [...cards];
    if (sort.value) ordered.sort((a, b) => sureOf(a) - sureOf(b) || a.place - b.place);
    main.append(...ordered.map((card) => card.element));
    form.querySelector("output").textContent = below.value < 100 ? `${below.value}%` : "any";
    form.querySelector("[role=status]").textContent =
      count === cards.length ? "" : `${count} of ${cards.length} shown`;
    for (const [label, button] of buttons) {
      button.setAttribute("aria-pressed", String(label === field.value));
    }
  }

  function remember() {
    const chosen = new URLSearchParams();
    if (sort.value) chosen.set("sort", sort.value);
    if (field.value) chosen.set("field", field.value);
    if (below.value < 100) chosen.set("below", below.value);
    if (changed.checked) chosen.set("changed", "1");
    if (text.value) chosen.set("text", text.value);
    history.replaceState(null, "", `#${chosen}`);
    apply();
  }

  function recall() {
    const chosen = new URLSearchParams(location.hash.slice(1));
    if (location.hash.includes("=")) {
      sort.value = chosen.get("sort") === "confidence" ? "confidence" : "";
      field.value = chosen.get("field") ?? "";
      if (field.selectedIndex < 0) field.value = "";
      below.value = chosen.get("below") ?? 100;
      changed.checked = chosen.has("changed");
      text.value = chosen.get("text") ?? "";
    }
    apply();
  }

  for (const mark of document.querySelectorAll(".legend mark")) {
    const label = mark.dataset.label;
    const button = document.createElement("button");
    button.type = "button";
    mark.replaceWith(button);
    button.append(mark);
    button.addEventListener("click", () => {
      field.value = field.value === label ? "" : label;
      remember();
    });
    buttons.set(label, button);
    field.append(new Option(mark.textContent, label));
  }

  function copies(button, text) {
    const name = button.textContent;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => (button.textContent = name), 1500);
    });
  }

  for (const box of document.querySelectorAll(".bibtex")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    box.append(button);
    copies(button, () => box.querySelector("pre").textContent + "\n");
  }
  copies(form.querySelector("button"), () =>
    [...main.querySelectorAll("article:not([hidden]) pre")]
      .map((entry) => entry.textContent + "\n")
      .join("\n"),
  );

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...main.querySelectorAll("details:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });

  form.addEventListener("input", remember);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", recall);
  form.hidden = false;
  recall();
})();
