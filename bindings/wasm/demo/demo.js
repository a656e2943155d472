// The page: sources, switches, and the loop that takes each frame through import, inference and
// composition. The address may say where to begin: ?background=colour&way=canvas&engine=wasm&source=none
import { Composer, backgrounds } from './compose.js';
import { Clock, showTimes } from './clock.js';
import { createSegmenter, size, ways } from './segmenter.js';

const $ = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
const chosen = {
  background: Object.hasOwn(backgrounds, asked.get('background')) ? asked.get('background') : 'blur',
  way: Object.hasOwn(ways, asked.get('way')) ? asked.get('way') : 'sparing',
};
const wayNotes = {
  sparing: 'The planes of the frame as they are, cut, scaled, converted and normalised in one pass.',
  copyto: 'The whole frame to RGBA first; cut, scaled and normalised by a JavaScript loop.',
  canvas: 'Drawn to a canvas, read back, normalised by a JavaScript loop.',
};

function setState(state, message = '') {
  document.body.dataset.state = state;
  $('message').textContent = message;
  $('retry').hidden = state !== 'failed';
}

function makeChoices(container, names, key, changed) {
  for (const [name, label] of Object.entries(names)) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.dataset.name = name;
    button.onclick = () => {
      chosen[key] = name;
      for (const other of container.children) other.ariaPressed = String(other === button);
      changed?.();
    };
    button.ariaPressed = String(chosen[key] === name);
    container.append(button);
  }
}

const video = $('video');
const composer = new Composer($('output'), size);
const clock = new Clock(60);
let segmenter;
let stream;
let running = 0;  // which run of the loop is the present one

// Every reason that a camera can be refused for, in words that say what to do.
function cameraProblem(error) {
  const words = {
    NotAllowedError: 'The camera was refused.\nAllow it for this page in the address bar, or choose a video file.',
    NotFoundError: 'This machine has no camera.\nPlug one in and try again, or choose a video file.',
    NotSupportedError: 'This browser gives no camera to pages.\nUse another one, or choose a video file.',
    NotReadableError: 'The camera is in use by another program.\nClose that program and try again, or choose a video file.',
  };
  return words[error.name] ?? `The camera did not start (${error.name}: ${error.message}).\nTry again, or choose a video file.`;
}

function release() {
  ++running;
  for (const track of stream?.getTracks() ?? []) track.stop();
  stream = null;
  if (video.src) URL.revokeObjectURL(video.src);
  video.removeAttribute('src');
  video.srcObject = null;
}

function press(source) {
  $('camera').ariaPressed = String(source === 'camera');
  $('file').parentElement.ariaPressed = String(source === 'file');
}

async function startCamera() {
  release();
  press('camera');
  if (!navigator.mediaDevices) {
    setState('failed', 'This page may not use a camera: it was not opened on localhost or by https.\nChoose a video file.');
    return;
  }
  setState('loading', 'Waiting for the camera');
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 } });
  } catch (error) {
    setState('failed', cameraProblem(error));
    return;
  }
  video.srcObject = stream;
  await play('The camera sends nothing that this browser can play.');
}

async function startFile(file) {
  release();
  press('file');
  setState('loading', `Opening ${file.name}`);
  video.src = URL.createObjectURL(file);
  await play(`'${file.name}' is no video that this browser plays.\nChoose another one: MP4 (H.264) or WebM.`);
}

async function play(problem) {
  try {
    await video.play();
  } catch {
    setState('failed', problem);
    return;
  }
  setState('running');
  loop(++running);
}

async function loop(mine) {
  clock.clear();
  while (mine === running) {
    await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
    if (mine !== running) return;
    try {
      await step();
    } catch (error) {
      setState('failed', `${error.name}: ${error.message}`);
      release();
      throw error;
    }
  }
}

async function step() {
  // The camera's clock does not matter here, but VideoFrame wants one for a video element without.
  const frame = new VideoFrame(video);
  try {
    clock.start();
    const mask = await segmenter.segment(frame, chosen.way, clock);
    composer.draw(frame, mask, chosen.background);
    clock.mark('compose');
    clock.finish();
    $('frameSize').textContent = `frames of ${frame.displayWidth} x ${frame.displayHeight}, ${frame.format ?? 'unknown format'}`;
  } finally {
    frame.close();
  }
  showTimes($('stages'), $('rate'), clock);
  document.body.dataset.frames = clock.count;
}

async function begin() {
  makeChoices($('backgrounds'), backgrounds, 'background');
  makeChoices($('ways'), ways, 'way', () => {
    clock.clear();
    $('wayNote').textContent = wayNotes[chosen.way];
  });
  $('wayNote').textContent = wayNotes[chosen.way];
  $('camera').onclick = startCamera;
  $('file').onchange = ({ target }) => {
    if (target.files[0]) startFile(target.files[0]);
    target.value = '';  // so that the same file can be chosen again
  };
  $('retry').onclick = startCamera;
  if (typeof VideoFrame === 'undefined') {
    setState('failed', 'This browser has no WebCodecs (VideoFrame), which the page lives on.\nUse a current Chrome, Edge, Safari or Firefox.');
    return;
  }
  try {
    segmenter = await createSegmenter({
      without: asked.get('engine') === 'wasm' ? 'webnn' : '',
      status: (text) => setState('loading', `Starting: ${text}`),
    });
  } catch (error) {
    setState('failed', `The network could not be loaded.\n${error.message}`);
    return;
  }
  $('engine').textContent = segmenter.engine;
  $('notes').textContent = segmenter.failures?.map((text) => `Not used: ${text}`).join('\n') ?? '';
  if (asked.get('source') === 'none') setState('ready', 'Choose the camera or a video file.');
  else await startCamera();
}

begin();
