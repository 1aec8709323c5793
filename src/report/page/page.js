// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the HTML report from the model in the page. Input: JSON of element "model" (html.cpp says
// what is in it). Output: the document. Text is only ever set as text, never as markup.
"use strict";
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const main = document.getElementById("report");
  const charts = [];

  function make(tag, parent, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (className) element.className = className;
    if (parent) parent.append(element);
    return element;
  }

  // A cell is text, or [text, number to sort by].
  const shown = (cell) => (Array.isArray(cell) ? cell[0] : cell);
  const key = (cell) => (Array.isArray(cell) ? cell[1] : cell);

  function order(a, b) {
    const x = key(a), y = key(b);
    if (typeof x === "number" && typeof y === "number") return x - y;
    if (typeof x === "number") return -1;
    if (typeof y === "number") return 1;
    return String(x).localeCompare(String(y), "en", { numeric: true });
  }

  function table(parent, spec) {
    const box = make("div", parent, null, "scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", spec.title);
    const element = make("table", box);
    make("caption", element, spec.title);
    const head = make("tr", make("thead", element));
    const body = make("tbody", element);
    const numeric = spec.columns.map((_, i) => spec.rows.some((row) => Array.isArray(row[i])));
    const fill = (rows) => {
      body.replaceChildren();
      for (const row of rows) {
        const line = make("tr", body);
        row.forEach((cell, i) => make("td", line, shown(cell), numeric[i] ? "n" : ""));
      }
    };
    spec.columns.forEach((title, i) => {
      const th = make("th", head, null, numeric[i] ? "n" : "");
      th.scope = "col";
      const button = make("button", th, title);
      button.type = "button";
      button.addEventListener("click", () => {
        const down = th.getAttribute("aria-sort") !== "descending";
        for (const other of head.children) other.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...spec.rows].sort((a, b) => order(a[i], b[i]));
        fill(down ? rows.reverse() : rows);
      });
    });
    fill(spec.rows);
  }

  const palette = ["#3b7dd8", "#d8843b", "#4da35a", "#b9526f", "#8a6bd1", "#3fa7a7", "#a08a2c",
    "#7a7f87"];
  const colour = (i) => palette[i % palette.length];

  function options(spec) {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text"), line = style.getPropertyValue("--line");
    const axis = (title, stacked, log) => ({
      title: { display: true, text: title, color: text }, stacked, grid: { color: line },
      ticks: { color: text, maxTicksLimit: 12, maxRotation: 0 }, type: log ? "logarithmic" : undefined,
    });
    const scales = { x: axis(spec.x, spec.stacked, false), y: axis(spec.y, spec.stacked, spec.log) };
    if (!spec.log) scales.y.beginAtZero = true;
    if (spec.type === "scatter") {
      scales.x.type = "linear";
      scales.y.ticks.callback = (value) => spec.rows[value] ?? "";
      scales.y.ticks.stepSize = 1;
    }
    for (const scale of Object.values(scales)) if (!scale.type) delete scale.type;
    return { animation: false, responsive: true, maintainAspectRatio: false, scales,
      plugins: { legend: { display: spec.series.length > 1, labels: { color: text } } } };
  }

  function datasets(spec) {
    return spec.series.map((series, i) => {
      const one = { label: series.name, data: series.data, borderColor: colour(i),
        backgroundColor: colour(i), borderWidth: spec.type === "line" ? 1.5 : 0, pointRadius: 0 };
      if (spec.type === "line") return Object.assign(one, { stepped: true, spanGaps: true });
      if (spec.type !== "scatter") return one;
      const most = Math.max(1, ...series.data.map((point) => point.n));
      one.pointStyle = "rect";
      one.pointRadius = series.data.map((point) => 2 + 6 * Math.sqrt(point.n / most));
      return one;
    });
  }

  // The numbers of a chart: the same that it was drawn from.
  function numbers(spec) {
    if (spec.type === "scatter") {
      const rows = spec.series.flatMap((series) =>
        series.data.map((p) => [series.name, [String(p.x), p.x], [spec.rows[p.y], p.y], [String(p.n), p.n]]));
      return { title: spec.title, columns: ["series", spec.x, spec.y, "count"], rows };
    }
    const rows = spec.labels.map((label, i) =>
      [[label, i], ...spec.series.map((series) => {
        const value = series.data[i];
        return value === null || value === undefined ? "-" : [String(value), value];
      })]);
    return { title: spec.title, columns: [spec.x, ...spec.series.map((s) => s.name)], rows };
  }

  function chart(parent, spec) {
    make("h3", parent, spec.title);
    if (spec.note) make("p", parent, spec.note, "note");
    const canvas = make("canvas", make("div", parent, null, "chart"));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", spec.title + "; its numbers follow as a table");
    const details = make("details", parent);
    make("summary", details, "numbers: " + spec.title);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) table(details, numbers(spec));
    });
    charts.push({ canvas, spec });
  }

  function draw() {
    if (typeof Chart === "undefined") return;
    for (const one of charts) {
      if (one.chart) one.chart.destroy();
      one.chart = new Chart(one.canvas, { type: one.spec.type,
        data: { labels: one.spec.labels, datasets: datasets(one.spec) }, options: options(one.spec) });
    }
  }

  function finding(parent, f) {
    const box = make("article", parent, null, "finding " + f.severity);
    const head = make("h3", box);
    make("span", head, f.severity, "severity");
    head.append(" " + f.id + ": " + f.where);
    make("p", box, f.summary);
    const list = make("dl", box);
    for (const [name, value] of f.items) {
      make("dt", list, name);
      const dd = make("dd", list);
      make(name === "try" || name === "or" ? "code" : "span", dd, value);
    }
  }

  make("h1", main, model.title);
  for (const line of model.lead) make("p", main, line);
  const nav = make("nav", main);
  nav.setAttribute("aria-label", "sections");
  model.sections.forEach((section, i) => {
    const link = make("a", nav, section.title);
    link.href = "#section" + i;
    const part = make("section", main);
    const head = make("h2", part, section.title);
    head.id = "section" + i;
    for (const text of section.texts ?? []) make("p", part, text);
    for (const f of section.findings ?? []) finding(part, f);
    for (const spec of section.charts ?? []) chart(part, spec);
    for (const spec of section.tables ?? []) table(part, spec);
  });
  if (typeof Chart === "undefined")
    make("p", main, "Built without the chart library: the numbers stand in the tables.", "note");
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = false;
    for (const one of charts) one.chart?.resize();
  });
})();
