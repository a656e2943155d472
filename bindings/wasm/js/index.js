// sparing-webnn: video frames to tensors.
import { FrameJob, createImporter } from './importer.js';
import { readOptions } from './options.js';
import { stateError } from './errors.js';

export { createImporter };
export { ImportErrorEvent, install } from './install.js';

let shared; // one importer a thread for importFrame(), loaded when it is first needed
let sharedLoading;

/** Loads the importer of importFrame() and importPlanes() ahead of their first call. */
export async function ready() {
  if (shared) return;
  sharedLoading ??= createImporter().finally(() => { sharedLoading = undefined; });
  shared = await sharedLoading;
}

/** A VideoFrame to a typed array. The frame may be closed as soon as the call has returned. */
export async function importFrame(frame, options) {
  if (shared) return shared.importFrame(frame, options);
  const job = new FrameJob(frame, readOptions(options)).keep();
  try {
    await ready();
    shared.check(job, RangeError);
  } catch (error) {
    job.close();
    throw error;
  }
  return shared.finish(job);
}

/** Planes in the caller's memory to a typed array, at once: await ready() before the first. */
export function importPlanes(source, options) {
  if (!shared) {
    throw stateError('InvalidStateError', 'importPlanes: the module is not loaded; await ready() first');
  }
  return shared.importPlanes(source, options);
}
