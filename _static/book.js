// Loaded on every page. The theme lets the keyboard scroll what is wider than its box, and measures that on load,
// when folded blocks have no width, and after a resize: let it measure again when one unfolds.
["toggle", "click"].forEach(function (kind) {
  document.addEventListener(kind, function (event) {
    if (kind === "toggle" || event.target.closest(".toggle, .admonition")) window.dispatchEvent(new Event("resize"));
  }, true);
});
