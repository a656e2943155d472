// The selfie segmentation network (models/people.json) as a WebNN graph, built from the TensorFlow.js
// files that the model's manifest names: selfie.json, the graph, and selfie.bin, its weights in float16.

// Resolves names of weights to their values. float16 is widened, because not every backend computes in it.
function readWeights(manifest, buffer) {
  const weights = new Map();
  let offset = 0;
  for (const group of manifest) {
    for (const { name, shape, dtype, quantization } of group.weights) {
      const count = shape.reduce((product, size) => product * size, 1);
      let values;
      if (dtype === 'float32' && quantization?.dtype === 'float16') {
        values = Float32Array.from(new Uint16Array(buffer.slice(offset, offset + 2 * count)), widen);
        offset += 2 * count;
      } else if (dtype === 'float32' && !quantization) {
        values = new Float32Array(buffer.slice(offset, offset + 4 * count));
        offset += 4 * count;
      } else if (dtype === 'int32' && !quantization) {
        values = new Int32Array(buffer.slice(offset, offset + 4 * count));
        offset += 4 * count;
      } else {
        throw new Error(`weight '${name}': type ${quantization?.dtype ?? dtype} is not read here; ` +
                        'use float32, float16 or int32');
      }
      weights.set(name, { values, shape });
    }
  }
  return weights;
}

function widen(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// The two numbers of TensorFlow's [1, height, width, 1].
const spatial = (attribute) => attribute.list.i.slice(1, 3).map(Number);
const text = (attribute) => atob(attribute.s);

// TensorFlow's SAME: as much padding as makes the output ceil(input / stride), the odd one at the end.
function padding(attr, size, kernel, strides) {
  if (text(attr.padding) === 'VALID') return [0, 0, 0, 0];
  return size.flatMap((length, axis) => {
    const total = Math.max(
      (Math.ceil(length / strides[axis]) - 1) * strides[axis] + kernel[axis] - length, 0);
    return [Math.floor(total / 2), Math.ceil(total / 2)];
  });
}

// Everything is NHWC, which is what the network was trained in and what the CPU backend prefers.
const operators = {
  Conv2D(graph, { attr }, [input, filter]) {
    const strides = spatial(attr.strides);
    const [height, width] = filter.shape;
    return graph.builder.conv2d(input, graph.constantOf(filter), {
      inputLayout: 'nhwc', filterLayout: 'hwio', strides,
      padding: padding(attr, input.shape.slice(1, 3), [height, width], strides),
    });
  },
  DepthwiseConv2dNative(graph, { attr }, [input, filter]) {
    const strides = spatial(attr.strides);
    const [height, width, channels, multiplier] = filter.shape;
    // [h, w, c, 1] and WebNN's [1, h, w, c] are the same numbers in the same order.
    const weights = { values: filter.values, shape: [multiplier, height, width, channels] };
    return graph.builder.conv2d(input, graph.constantOf(weights), {
      inputLayout: 'nhwc', filterLayout: 'ihwo', groups: channels, strides,
      padding: padding(attr, input.shape.slice(1, 3), [height, width], strides),
    });
  },
  Conv2DBackpropInput(graph, { attr }, [size, filter, input]) {
    const strides = spatial(attr.strides);
    const [height, width] = filter.shape;
    const outputSizes = [...size.values].slice(1, 3);
    return graph.builder.convTranspose2d(input, graph.constantOf(hwoiToOhwi(filter)), {
      inputLayout: 'nhwc', filterLayout: 'ohwi', strides, outputSizes,
      padding: padding(attr, outputSizes, [height, width], strides),
    });
  },
  AvgPool(graph, { attr }, [input]) {
    return graph.builder.averagePool2d(input, {
      layout: 'nhwc', windowDimensions: spatial(attr.ksize), strides: spatial(attr.strides),
    });
  },
  ResizeBilinear(graph, node, [input, size]) {
    return graph.builder.resample2d(input, { mode: 'linear', axes: [1, 2], sizes: [...size.values] });
  },
  Add: (graph, node, [a, b]) => graph.add(a, b),
  AddV2: (graph, node, [a, b]) => graph.add(a, b),
  AddN: (graph, node, inputs) => inputs.reduce((a, b) => graph.add(a, b)),
  Mul: (graph, node, [a, b]) => graph.mul(a, b),
  Relu: (graph, node, [a]) => graph.builder.relu(a),
  Relu6: (graph, node, [a]) => graph.builder.clamp(a, { minValue: 0, maxValue: 6 }),
  Sigmoid: (graph, node, [a]) => graph.builder.sigmoid(a),
};

function hwoiToOhwi({ values, shape: [height, width, outputs, inputs] }) {
  const turned = new Float32Array(values.length);
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      for (let o = 0; o < outputs; ++o) {
        for (let i = 0; i < inputs; ++i) {
          turned[((o * height + y) * width + x) * inputs + i] =
            values[((y * width + x) * outputs + o) * inputs + i];
        }
      }
    }
  }
  return { values: turned, shape: [outputs, height, width, inputs] };
}

// What operators make nodes with: weights become constants where they are used.
class Graph {
  constructor(builder) {
    this.builder = builder;
    this.constants = new Map();
  }
  constantOf(operand) {
    if (!(operand.values instanceof Float32Array)) return operand;
    if (!this.constants.has(operand)) {
      this.constants.set(operand, this.builder.constant(
        { dataType: 'float32', shape: operand.shape }, operand.values));
    }
    return this.constants.get(operand);
  }
  add(a, b) { return this.builder.add(this.constantOf(a), this.constantOf(b)); }
  mul(a, b) { return this.builder.mul(this.constantOf(a), this.constantOf(b)); }
}

// Fetches the network's files and builds its graph: input [1, 256, 256, 3], RGB of 0..1; output
// [1, 256, 256, 1], the probability of a person.
export async function buildSelfieGraph(context, folder) {
  const [description, buffer] = await Promise.all([
    fetchFile(`${folder}/selfie.json`).then((response) => response.json()),
    fetchFile(`${folder}/selfie.bin`).then((response) => response.arrayBuffer()),
  ]);
  const weights = readWeights(description.weightsManifest, buffer);
  const builder = new MLGraphBuilder(context);
  const graph = new Graph(builder);
  const done = new Map();
  for (const node of inOrder(description.modelTopology.node)) {
    if (node.op === 'Placeholder') {
      const shape = node.attr.shape.shape.dim.map(({ size }) => Number(size));
      done.set(node.name, builder.input('input', { dataType: 'float32', shape }));
    } else if (node.op === 'Const') {
      done.set(node.name, weights.get(node.name));
    } else {
      const make = operators[node.op];
      if (!make) throw new Error(`operator ${node.op} of '${node.name}': not built here; add it to selfie_graph.js`);
      done.set(node.name, make(graph, node, node.input.map((name) => done.get(name))));
    }
  }
  return builder.build({ output: done.get('activation_10') });
}

async function fetchFile(address) {
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(`model file '${address}': HTTP ${response.status}; start the page by scripts/demo-web`);
  }
  return response;
}

// Nodes so that each comes after its inputs.
function inOrder(nodes) {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const ordered = new Set();
  const visit = (node) => {
    if (ordered.has(node)) return;
    for (const name of node.input ?? []) visit(byName.get(name));
    ordered.add(node);
  };
  nodes.forEach(visit);
  return ordered;
}
