// The table of doubles that describes one import to the module: src/import_request.h has the same names
// in the same order, and the module tells how many there are.

const NAMES = `
  format codedWidth codedHeight
  plane0 plane1 plane2 plane3 stride0 stride1 stride2 stride3
  visibleX visibleY visibleWidth visibleHeight rotation flip matrix range siting
  frameWidth frameHeight
  tensor dataType layout channels height width
  hasSource sourceX sourceY sourceWidth sourceHeight
  mean0 mean1 mean2 std0 std1 std2
  order fit pad0 pad1 pad2 anchor filter outside chroma
  quantizationScale quantizationZeroPoint alpha
  hasOrientation shownRotation shownFlip
  givenMatrix givenRange givenSiting`.trim().split(/\s+/);

export const FIELD_COUNT = NAMES.length;
/** @type {Record<string, number>} */
export const FIELDS = Object.fromEntries(NAMES.map((name, index) => [name, index]));
