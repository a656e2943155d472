// A module worker that imports what it is sent. Import maps do not hold in workers, hence the path.
import { importFrame, install } from '/sparing-webnn/index.js';

self.onmessage = async ({ data: { frame, options, shape } }) => {
  try {
    const values = await importFrame(frame, options);
    let written = null;
    if (shape) {
      await install(navigator.ml);
      const context = await navigator.ml.createContext({ deviceType: 'cpu' });
      const tensor = await context.createTensor({ dataType: 'float32', shape, readable: true, writable: true });
      context.writeTensor(tensor, { frame, isNchw: true, mean: options.mean, std: options.std });
      frame.close();
      written = new Float32Array(await context.readTensor(tensor));
    } else {
      frame.close();
    }
    self.postMessage({ values, written });
  } catch (error) {
    self.postMessage({ failure: `${error.name}: ${error.message}` });
  }
};
