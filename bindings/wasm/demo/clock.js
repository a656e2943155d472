// Times of the stages of a frame, and how they are shown.
const labels = {
  importWrite: 'import + write',
  import: 'import',
  write: 'write',
  inference: 'inference',
  compose: 'compose',
};

export class Clock {
  constructor(length) {
    this.length = length;
    this.count = 0;
    this.clear();
  }
  clear() {
    this.stages = new Map();
    this.ends = [];
  }
  start() {
    this.begun = this.last = performance.now();
  }
  // The stage that ends here.
  mark(stage) {
    const now = performance.now();
    this.add(stage, now - this.last);
    this.last = now;
  }
  add(stage, milliseconds) {
    if (!this.stages.has(stage)) this.stages.set(stage, []);
    const times = this.stages.get(stage);
    times.push(milliseconds);
    if (times.length > this.length) times.shift();
  }
  finish() {
    const now = performance.now();
    this.add('total', now - this.begun);
    this.ends.push(now);
    if (this.ends.length > this.length) this.ends.shift();
    ++this.count;
  }
  median(stage) {
    const times = [...this.stages.get(stage)].sort((a, b) => a - b);
    return times[times.length >> 1];
  }
  // Frames a second, of the frames that are kept.
  rate() {
    const { ends } = this;
    return ends.length > 1 ? 1000 * (ends.length - 1) / (ends.at(-1) - ends[0]) : 0;
  }
}

export function showTimes(body, rate, clock) {
  rate.textContent = `${clock.rate().toFixed(0)} frames/s`;
  const stages = [...clock.stages.keys()].filter((stage) => stage !== 'total');
  const total = clock.median('total');
  if (body.dataset.stages !== stages.join()) {
    body.dataset.stages = stages.join();
    body.replaceChildren(...[...stages, 'total'].map((stage) => row(stage)));
  }
  for (const line of body.children) {
    const time = clock.median(line.dataset.stage);
    line.cells[2].textContent = time.toFixed(1);
    if (line.cells[1].firstChild) line.cells[1].firstChild.style.width = `${Math.min(100, 100 * time / total)}%`;
  }
}

function row(stage) {
  const line = document.createElement('tr');
  line.dataset.stage = stage;
  if (stage === 'total') line.className = 'total';
  const name = line.insertCell();
  name.textContent = labels[stage] ?? stage;
  const bar = line.insertCell();
  if (stage !== 'total') {
    const span = document.createElement('span');
    span.className = 'bar';
    bar.append(span);
  }
  line.insertCell();
  return line;
}
