// Loaded on every page, before MathJax, which takes its settings from here: no formula is a stop of the Tab key
// (their menu opens with the mouse), except those that scroll, below.
(function () {
  var maths = (window.MathJax = window.MathJax || {});
  maths.options = maths.options || {};
  maths.options.menuOptions = { settings: { inTabOrder: false } };
})();

// What is wider than its box scrolls: the keyboard can reach it, and a screen reader says what it is.
(function () {
  var KINDS = [
    ["region", "Table", ".bd-content .text_html:has(table), .bd-content .pst-scrollable-table-container"],
    ["group", "Formula", ".bd-content mjx-container[display='true'], .bd-content .al-wide"],
    ["group", "Picture", ".bd-content .al-picture-box"],
    ["group", "Code", ".bd-content .highlight > pre"]
  ];

  function name(box, role, text) {
    if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) {
      box.tabIndex = 0;
      box.setAttribute("role", role);
      box.setAttribute("aria-label", text);
      box.dataset.alNamed = "";
    } else if ("alNamed" in box.dataset) {
      ["tabindex", "role", "aria-label", "data-al-named"].forEach(function (key) { box.removeAttribute(key); });
    }
  }

  // A formula in a sentence scrolls only where it is wider than the line (its hidden twin for screen readers is, often).
  function widen() {
    document.querySelectorAll(".bd-content span.math").forEach(function (box) {
      var shown = box.querySelector("mjx-math");
      if (!shown) return;
      box.classList.toggle("al-wide", shown.getBoundingClientRect().width > box.getBoundingClientRect().width + 0.75);
    });
  }

  function nameAll() {
    widen();
    KINDS.forEach(function (kind) {
      document.querySelectorAll(kind[2]).forEach(function (box, number) {
        name(box, kind[0], kind[1] + " " + (number + 1) + ", wider than the page");
      });
    });
    document.querySelectorAll(".admonition-title > .toggle-button").forEach(function (button) {
      var title = button.closest(".admonition-title").textContent.trim().replace(/\s+/g, " ");
      button.setAttribute("aria-label", "Show or hide: " + title);
    });
  }

  var waiting;
  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(nameAll, 100);
  }

  window.addEventListener("load", function () {
    nameAll();
    if (window.MathJax && MathJax.startup && MathJax.startup.promise) MathJax.startup.promise.then(soon);
  });
  window.addEventListener("resize", soon);
  // A reader's own letter spacing or font size makes the text longer, not the window narrower.
  if (window.ResizeObserver) {
    document.addEventListener("DOMContentLoaded", function () {
      var article = document.querySelector("article");
      if (article) new ResizeObserver(soon).observe(article);
    });
  }
  // The theme, too, measures after a resize: let it measure again when something unfolds.
  ["toggle", "click"].forEach(function (kind) {
    document.addEventListener(kind, function (event) {
      if (kind === "toggle" || event.target.closest(".toggle, .admonition")) window.dispatchEvent(new Event("resize"));
    }, true);
  });
})();

// The theme takes the focus from its buttons when they are pressed: give it back, also when a side bar closes again.
(function () {
  var pressed = null;

  function back() {
    setTimeout(function () {
      if (pressed && document.activeElement === document.body) pressed.focus();
    }, 0);
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest("button");
    if (!button || !button.matches(".theme-switch-button, .primary-toggle, .secondary-toggle, [class*='search-button']")) return;
    pressed = button;
    back();
  }, true);
  document.addEventListener("close", back, true); // of a dialog; this event does not rise
})();

// On paper: answers and solutions unfolded, light colours. Afterwards all is as it was.
(function () {
  var undo = [];
  window.addEventListener("beforeprint", function () {
    var root = document.documentElement, theme = root.dataset.theme;
    root.dataset.theme = "light";
    undo.push(function () { root.dataset.theme = theme; });
    document.querySelectorAll(".bd-content details:not(.above-input, [open])").forEach(function (details) {
      details.open = true;
      undo.push(function () { details.open = false; });
    });
    document.querySelectorAll(".bd-content .toggle-hidden").forEach(function (block) {
      block.classList.remove("toggle-hidden");
      undo.push(function () { block.classList.add("toggle-hidden"); });
    });
  });
  window.addEventListener("afterprint", function () {
    undo.splice(0).forEach(function (step) { step(); });
  });
})();
