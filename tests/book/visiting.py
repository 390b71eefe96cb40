"""A page of the site, opened in a browser, for the tests that look at it."""

# Unfold all as a reader does, then give the theme its 300 ms to see what can now be scrolled.
OPEN_ALL = """async () => {
  document.querySelectorAll("details").forEach(d => d.open = true);
  document.querySelectorAll(".toggle-button-hidden").forEach(b => b.click());
  await new Promise(done => setTimeout(done, 600));
  document.getAnimations().forEach(a => a.finish());
}"""


class Visit:
    """A page, opened, with what the browser had to complain about."""

    def __init__(self, browser, address, page, scheme="light", width=1280, **options):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, **options)
        self.tab, self.complaints = context.new_page(), []
        self.tab.on("console", lambda m: m.type in ("error", "warning") and self.complaints.append(m.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.tab.on("response", lambda r: r.status >= 400 and self.complaints.append(f"{r.status} {r.url}"))
        self.tab.on("request", lambda r: self._local(address, r.url))
        self.tab.goto(f"{address}/{page}")
        self.tab.wait_for_load_state("networkidle")
        self.close = context.close

    def _local(self, address, url):
        if not url.startswith((address, "data:")):
            self.complaints.append(f"another host: {url}")

    def settle(self):
        """Wait until the maths is set, where there is any, and what scrolls has its name."""
        if self.tab.locator(".math").count():
            self.tab.wait_for_function("() => window.MathJax?.startup?.promise")
            self.tab.evaluate("() => MathJax.startup.promise")
        self.tab.wait_for_timeout(400)
        return self.tab
