// The picture out of a frame and its mask, on a 2D canvas.

export const backgrounds = {
  blur: 'Blur',
  replace: 'Sunset',
  colour: 'Green',
  none: 'As it is',
};

export class Composer {
  constructor(canvas, maskSize) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.mask = new OffscreenCanvas(maskSize, maskSize);
    this.maskContext = this.mask.getContext('2d');
    this.maskPixels = this.maskContext.createImageData(maskSize, maskSize);
    this.small = new OffscreenCanvas(1, 1);
    this.smallContext = this.small.getContext('2d', { alpha: false });
  }

  draw(frame, probabilities, background) {
    const { canvas, context } = this;
    const { displayWidth: width, displayHeight: height } = frame;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.globalCompositeOperation = 'copy';
    context.imageSmoothingEnabled = true;
    if (background === 'none' || !probabilities) {
      context.drawImage(frame, 0, 0, width, height);
      return;
    }
    this.#setMask(probabilities);
    context.drawImage(this.mask, 0, 0, width, height);
    context.globalCompositeOperation = 'source-in';
    context.drawImage(frame, 0, 0, width, height);
    context.globalCompositeOperation = 'destination-over';
    this.#drawBackground(frame, background, width, height);
  }

  // Twice as hard an edge as the network's, which is soft over many pixels.
  #setMask(probabilities) {
    const { data } = this.maskPixels;
    for (let i = 0; i < probabilities.length; ++i) {
      data[4 * i + 3] = 255 * Math.min(1, Math.max(0, 2 * probabilities[i] - 0.5));
    }
    this.maskContext.putImageData(this.maskPixels, 0, 0);
  }

  #drawBackground(frame, background, width, height) {
    const { context } = this;
    if (background === 'colour') {
      context.fillStyle = '#00b140';
      context.fillRect(0, 0, width, height);
    } else if (background === 'replace') {
      if (this.sunset?.width !== width || this.sunset.height !== height) this.sunset = sunset(width, height);
      context.drawImage(this.sunset, 0, 0);
    } else {
      this.#drawBlurred(frame, width, height);
    }
  }

  // A blur at an eighth of the size costs a sixty-fourth, and enlarging it smooths the rest.
  #drawBlurred(frame, width, height) {
    const { context, small, smallContext } = this;
    const columns = Math.max(1, Math.round(width / 8));
    const rows = Math.max(1, Math.round(height / 8));
    if (small.width !== columns || small.height !== rows) Object.assign(small, { width: columns, height: rows });
    smallContext.imageSmoothingQuality = 'medium';
    smallContext.filter = 'blur(1.5px)';
    smallContext.drawImage(frame, -1, -1, columns + 2, rows + 2);
    context.drawImage(small, 0, 0, width, height);
  }
}

function sunset(width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d', { alpha: false });
  const sky = context.createLinearGradient(0, 0, 0, height);
  for (const [place, colour] of [[0, '#23264f'], [0.35, '#83426f'], [0.55, '#e8775a'], [0.68, '#ffc46b']]) {
    sky.addColorStop(place, colour);
  }
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);
  context.fillStyle = '#fff1c4';
  context.beginPath();
  context.arc(0.68 * width, 0.66 * height, 0.09 * height, 0, 2 * Math.PI);
  context.fill();
  const sea = context.createLinearGradient(0, 0.68 * height, 0, height);
  sea.addColorStop(0, '#b4586a');
  sea.addColorStop(1, '#1b2145');
  context.fillStyle = sea;
  context.fillRect(0, 0.68 * height, width, height);
  return canvas;
}
