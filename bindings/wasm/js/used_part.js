// Which part of a frame an import looks at: no more of it has to be copied.

// Beyond the rectangle filters look half a tensor pixel far, and chroma of half the samples, interpolated, 2
// pixels and what aligns it.
const MARGIN = 4;

// Display coordinates (upright, of the whole visible rectangle) to coded ones, and back.
function codedPoint({ width: w, height: h }, rotation, flip, X, Y) {
  const x = flip ? (rotation % 180 === 0 ? w : h) - X : X;
  switch (rotation) {
    case 0: return [x, Y];
    case 90: return [Y, h - x];
    case 180: return [w - x, h - Y];
    default: return [w - Y, x];
  }
}
function displayPoint({ width: w, height: h }, rotation, flip, u, v) {
  const upright = { 0: [u, v], 90: [h - v, u], 180: [w - u, h - v], 270: [v, w - u] }[rotation];
  return flip ? [(rotation % 180 === 0 ? w : h) - upright[0], upright[1]] : upright;
}

// How much of the source a tensor pixel covers.
function steps({ width, height }, settings) {
  if (settings.fit === 0) return [width / settings.width, height / settings.height];
  // Letterboxed, sides are whole pixels; cropped, both are at most this.
  const scale = Math.min(settings.width / width, settings.height / height);
  return [width, height].map((extent) => extent / Math.max(1, Math.floor(extent * scale + 0.5)));
}

/**
 * The part of `visible` (whole coded pixels) that is looked at, and where its corner is in display
 * coordinates; null when that is most of it, or hard to say.
 * @param source In display coordinates. @param shown rotation and flip.
 */
export function usedPart(visible, source, settings, { rotation, flip }) {
  if (settings.outside !== 0) return null; // border goes by the whole frame's edge
  const [stepX, stepY] = steps(source, settings).map((step) => Math.ceil(step / 2) + MARGIN);
  const corners = [
    codedPoint(visible, rotation, flip, source.x - stepX, source.y - stepY),
    codedPoint(visible, rotation, flip, source.x + source.width + stepX, source.y + source.height + stepY),
  ];
  const span = (axis, extent) => {
    const ends = corners.map((point) => point[axis]).sort((a, b) => a - b);
    return [Math.max(0, Math.floor(ends[0])), Math.min(extent, Math.ceil(ends[1]))];
  };
  const [left, right] = span(0, visible.width);
  const [top, bottom] = span(1, visible.height);
  const part = { x: left, y: top, width: right - left, height: bottom - top };
  if (!(part.width > 0 && part.height > 0)) return null; // outside: an error that names the whole frame
  if (part.width * part.height > 0.8 * visible.width * visible.height) return null;
  const [a, b] = [[left, top], [right, bottom]].map(([u, v]) => displayPoint(visible, rotation, flip, u, v));
  return {
    visible: { ...part, x: visible.x + left, y: visible.y + top },
    corner: { x: Math.min(a[0], b[0]), y: Math.min(a[1], b[1]) },
  };
}
