// What is wrong with the page as it is shown now: findings whose first word says of what kind they are.
globalThis.checks = (() => {
  const all = (selector, below = document) => [...below.querySelectorAll(selector)];
  const shown = (element) => element.checkVisibility() && element.getClientRects().length > 0;
  const told = (element) => (element.textContent.trim() || element.outerHTML).slice(0, 60);
  const size = (mark) => mark.getBoundingClientRect().width + mark.getBoundingClientRect().height;
  // Whether two boxes meet in their middle halves, where letters are.
  const meet = (a, b) => {
    const apart = Math.abs(a.top + a.bottom - b.top - b.bottom) / 2;
    return a.left < b.right && b.left < a.right && apart < (a.height + b.height) / 4;
  };
  const root = document.documentElement;

  // How bright a colour is, as the screen has it, and how much two differ (WCAG 2.2).
  const screen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    screen.fillStyle = colour;
    screen.fillRect(0, 0, 1, 1);
    const linear = (byte) => (byte <= 10 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = [...screen.getImageData(0, 0, 1, 1).data].map(linear);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (...two) => {
    const [dark, bright] = two.map(luminance).sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const ground = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return colour !== "rgba(0, 0, 0, 0)" ? colour : element.parentElement ? ground(element.parentElement) : "white";
  };
  // What is behind a text of a picture: its rim, or the last shape that was drawn over its middle, or the page.
  const behind = (text, svg) => {
    const { stroke } = getComputedStyle(text);
    if (stroke !== "none") return stroke;
    const { x, y, width, height } = text.getBBox();
    const middle = new DOMPoint(x + width / 2, y + height / 2);
    const below = all("rect, path, circle", svg).filter(
      (shape) =>
        shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING &&
        shown(shape) && getComputedStyle(shape).fill !== "none" && shape.isPointInFill(middle),
    );
    return below.length ? getComputedStyle(below.pop()).fill : ground(svg);
  };

  const legible = (text, colour, behind, found) => {
    const ratio = contrast(colour, behind);
    if (ratio < 4.5) found.push(`contrast: ${ratio.toFixed(2)}: ${told(text)}`);
  };
  const words = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());

  const pictures = () => all("svg").concat(root.matches("svg") ? [root] : []).filter((svg) => svg.ariaHidden !== "true");
  const inPicture = (svg, found) => {
    const name = svg.getAttribute("aria-label") ?? svg.querySelector(":scope > title")?.textContent;
    if (svg.getAttribute("role") !== "img" || !name) found.push(`name: a picture has no role or no name: ${told(svg)}`);
    if (!shown(svg)) return;
    const box = svg.getBoundingClientRect();
    const marks = all("polyline, circle, .series path:not(.lead), rect:has(title), path[fill]:not([fill=none])", svg);
    const lacks = all(".series:has(g:not(.stall) + g:not(.stall))", svg).filter((line) => !all("polyline", line).some(size));
    if (box.width < 280 || box.height < 60 || !marks.some(size)) found.push(`plot: small, or nothing is in it: ${name}`);
    if (lacks.length) found.push(`plot: ${lacks.length} have dots and no line: ${name}`);
    for (const text of all("text", svg).filter(shown)) {
      const place = text.getBoundingClientRect();
      legible(text, getComputedStyle(text).fill, behind(text, svg), found);
      const whole = place.left >= box.left && place.right <= box.right && place.top >= box.top && place.bottom <= box.bottom;
      if (!whole) found.push(`cut: the picture ends within ${told(text)}`);
      const covers = (other) => other !== text && shown(other) && meet(other.getBoundingClientRect(), place);
      for (const other of all("label").concat(all("text", svg)).filter(covers))
        found.push(`covered: ${told(text)} and ${told(other)}`);
    }
  };

  // What the keyboard has to reach: of radio buttons with one name, one.
  const wanted = () => all("a[href], summary, input, button, select, textarea, [tabindex]").filter(shown);
  const reached = new Set();
  const same = (one, other) => one === other || (one.type === "radio" && one.name === other.name);

  return {
    brightness: () => luminance(ground(document.body ?? root)),
    // Everything that is folded; and, `other`, what else the reader may choose to see.
    unfold(other) {
      for (const fold of all("details")) fold.open = true;
      if (other) for (const input of all(".to-log, [type=checkbox]")) input.click();
    },
    seen() {
      const found = [];
      if (root.scrollWidth > innerWidth) found.push(`wide: ${root.scrollWidth} of ${innerWidth}`);
      for (const table of all("table")) if (!table.querySelector("th")) found.push(`table: no header: ${told(table)}`);
      for (const svg of pictures()) inPicture(svg, found);
      for (const text of all("body *:not(svg *)").filter((element) => shown(element) && words(element)))
        legible(text, getComputedStyle(text).color, ground(text), found);
      return found;
    },
    plots: () => pictures().concat(all("img")).filter(shown).length,
    drawn: () => pictures().map(shown).join(),
    // What has the focus: findings, or null at the end of the page.
    focused() {
      const at = document.activeElement;
      if (!at || at === document.body || at === root) return null;
      reached.add(at);
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      return outlineStyle === "none" || parseFloat(outlineWidth) < 1 ? [`outline: none: ${told(at)}`] : [];
    },
    // Whether there is a choice between scales; it has the focus then.
    choose() {
      document.querySelector("[type=radio]:checked")?.focus();
      return document.activeElement?.type === "radio";
    },
    missed() {
      const missing = wanted().filter((one) => ![...reached].some((at) => same(one, at)));
      return missing.map((one) => `tab: does not reach ${told(one)}`);
    },
  };
})();
