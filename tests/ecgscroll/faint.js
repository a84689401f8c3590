// Texts in sight whose contrast with what is behind them is under 4.5 to 1.
() => {
const parse = (css) => { const pen = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  pen.clearRect(0, 0, 1, 1); pen.fillStyle = css; pen.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
const light = (rgb) => { const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, element = node.parentElement;
  if (!node.data.trim() || !element.checkVisibility() || element.closest("script, noscript, :disabled, svg, option, .skip")) continue;
  const chain = [];
  for (let at = element; at; at = at.parentElement) chain.unshift(at);
  let ground = parse(getComputedStyle(document.documentElement).getPropertyValue("--ground")).slice(0, 3), opacity = 1;
  for (const at of chain) {
    const style = getComputedStyle(at);
    ground = over(parse(style.backgroundColor), ground);
    opacity *= Number(style.opacity);
  }
  const ink = parse(getComputedStyle(element).color);
  const seen = over([ink[0], ink[1], ink[2], ink[3] * opacity], ground);
  const [a, b] = [light(seen), light(ground)].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${node.data.trim().slice(0, 30)}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
}
return found; }
