// Types of sparing-webnn. VideoFrame, DOMRectInit and VideoColorSpaceInit are TypeScript's own (lib "dom" or
// "webworker"); WebNN's interfaces are described here as far as they are used, so that no other package is
// needed.

export type DataType = 'float32' | 'float16' | 'uint8' | 'int8' | 'int32' | 'int64';

/** One number for all channels, or one for each (in the order of the tensor's channels). */
export type PerChannel = number | readonly [number, number, number] | Float32Array | Float64Array;

export interface ColorSpaceOptions {
  matrix?: 'bt709' | 'bt470bg' | 'smpte170m' | 'bt2020-ncl' | 'rgb' | null;
  fullRange?: boolean | null;
  primaries?: string | null;
  transfer?: string | null;
  /** Where 4:2:0 chroma lies: 'left' (video, the default), 'center' (JPEG), 'top-left'. */
  siting?: 'left' | 'center' | 'top-left';
}

/** What an import says about pixels; every default is the explainer's behaviour. */
export interface PixelOptions {
  /** The part of the frame to show, in its display pixels, upright; fractions allowed. Default: all. */
  visibleRect?: { x?: number; y?: number; width?: number; height?: number };
  /** value = (pixel - mean) / std, pixels being 0..255. Default 0. */
  mean?: PerChannel;
  /** Not 0. Default 1. */
  std?: PerChannel;
  order?: 'rgb' | 'bgr';
  fit?: 'stretch' | 'letterbox' | 'crop';
  /** Where a letterboxed picture lies, and which part 'crop' keeps. */
  anchor?: 'center' | 'top-left';
  /** The border's pixel value, 0..255, before normalisation. Default 114. */
  pad?: PerChannel;
  filter?: 'bilinear' | 'nearest' | 'area' | 'triangle' | 'auto';
  /** What lies beyond the frame: the nearest pixel, or `pad`. */
  outside?: 'clamp' | 'pad';
  /** How halved chroma is brought to luma's size; 'replicate' is what OpenCV does. */
  chroma?: 'interpolate' | 'replicate';
  /** The fourth channel of a tensor of 4; not normalised. Default 255. */
  alpha?: number;
  /** Integer tensors: round(value / scale) + zeroPoint, saturated. */
  quantization?: { scale?: number; zeroPoint?: number };
  /** In place of the frame's own rotation and flip. */
  rotation?: 0 | 90 | 180 | 270;
  flip?: boolean;
  /** What is given here replaces the frame's own, member by member. */
  colorSpace?: ColorSpaceOptions;
}

export interface TensorSize {
  width: number;
  height: number;
  /** 3 (default), 1 (luma) or 4 (and alpha). */
  channels?: 1 | 3 | 4;
  dimensions?: undefined;
}
export interface TensorDimensions {
  /** [1, channels, height, width], or [1, height, width, channels] with layout 'nhwc'. */
  dimensions: readonly number[];
  width?: undefined;
  height?: undefined;
  channels?: undefined;
}

export type ImportOptions<T extends DataType = DataType> = PixelOptions & (TensorSize | TensorDimensions) & {
  layout?: 'nchw' | 'nhwc';
  dataType?: T;
  /** A typed array to fill and return, instead of a new one. */
  into?: TypedArrays[T];
};

/** float16 is a Float16Array where the engine has it, else a Uint16Array of its bits. */
export interface TypedArrays {
  float32: Float32Array;
  float16: Uint16Array;
  uint8: Uint8Array;
  int8: Int8Array;
  int32: Int32Array;
  int64: BigInt64Array;
}

/** Planes in memory. Either `data` (with `layout`, default: one after the other without padding) or `planes`. */
export interface PlanesSource {
  /** WebCodecs' names, and those of Importer.formats. */
  format: string;
  codedWidth: number;
  codedHeight: number;
  data?: BufferSource;
  layout?: { offset: number; stride: number }[];
  planes?: { data: BufferSource; stride?: number; offset?: number }[];
  visibleRect?: { x?: number; y?: number; width?: number; height?: number };
  displayWidth?: number;
  displayHeight?: number;
  rotation?: 0 | 90 | 180 | 270;
  flip?: boolean;
  colorSpace?: ColorSpaceOptions | null;
}

/** (x, y) of the tensor to (a x + b y + tx, c x + d y + ty) of the frame as displayed. */
export interface AffineMap { a: number; b: number; tx: number; c: number; d: number; ty: number; }

export class Importer {
  private constructor();
  /** 'WASM' with SIMD128. */
  readonly target: string;
  readonly version: string;
  readonly formats: string[];
  readonly memoryBytes: number;
  /** The frame may be closed as soon as the call has returned; it is not closed here. */
  importFrame<T extends DataType = 'float32'>(frame: VideoFrame, options: ImportOptions<T>): Promise<TypedArrays[T]>;
  importPlanes<T extends DataType = 'float32'>(source: PlanesSource, options: ImportOptions<T>): TypedArrays[T];
  /** The map through which boxes come back from the tensor. */
  tensorToDisplay(source: VideoFrame | PlanesSource, options: ImportOptions): AffineMap;
  /** Gives back memory that is not in use. */
  trim(): void;
}

export interface ModuleOptions {
  /** Another place, or what is loaded already. Default: the file beside the scripts. */
  wasm?: WebAssembly.Module | BufferSource | Response | URL | string;
  /** Default: whether the engine has SIMD128. */
  simd?: boolean;
}

export function createImporter(options?: ModuleOptions): Promise<Importer>;
export function importFrame<T extends DataType = 'float32'>(
  frame: VideoFrame, options: ImportOptions<T>): Promise<TypedArrays[T]>;
/** At once; await ready() before the first. */
export function importPlanes<T extends DataType = 'float32'>(
  source: PlanesSource, options: ImportOptions<T>): TypedArrays[T];
export function ready(): Promise<void>;

// ---- WebNN

/** The explainer's dictionary; mean, std and visibleRect may be left out, and PixelOptions' others are extensions. */
export interface MLVideoFrame extends PixelOptions {
  frame: VideoFrame;
  isNchw: boolean;
}

export interface InstallOptions extends ModuleOptions {
  /** A context that is there already; otherwise one is made and destroyed to look at. */
  context?: object;
  importer?: Importer;
}

/** Work that failed after its call had returned. readTensor() of its tensor rejects with the same error. */
export class ImportErrorEvent extends Event {
  readonly error: Error;
  readonly operation: 'writeTensor' | 'dispatch';
  readonly context: object;
  readonly tensor: object | null;
}

export interface Installation extends EventTarget {
  /** Whether the browser takes frames itself; then nothing was changed. */
  readonly native: boolean;
  pending(context: object): number;
  idle(context: object): Promise<void>;
  uninstall(): Promise<void>;
  addEventListener(type: 'error', listener: (event: ImportErrorEvent) => void,
    options?: AddEventListenerOptions | boolean): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean): void;
}

export function install(ml: object, options?: InstallOptions): Promise<Installation>;

declare global {
  /** Merges with the interface of WebNN's types where those are loaded. */
  interface MLContext {
    writeTensor(tensor: MLTensor, source: MLVideoFrame): void;
  }
  interface MLTensor {}
}
