#!/usr/bin/env node
/**
 * Turns trained vectors into the model file that ships: whole numbers, sorted words, a checked size.
 *
 *   node training/pack.mjs --data DIR --vectors DIR --out models/meaning.bin
 *
 * In: `vocabulary.json` of `prepare.mjs`, and `vectors.f32` and `parts.json` of `train.py`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDictionary } from '../dist/search/dictionary.js';
import { toMeaning } from '../dist/search/meaning-model.js';
import { encodeModel } from '../dist/search/model-file.js';

const MOST_BYTES = 8_000_000;

const { values: args } = parseArgs({
  options: {
    data: { type: 'string' },
    vectors: { type: 'string' },
    out: { type: 'string', default: join(import.meta.dirname, '../models/meaning.bin') },
  },
});
if (args.data === undefined || args.vectors === undefined)
  throw new Error('Both --data DIR and --vectors DIR are needed.');

const vocabulary = JSON.parse(readFileSync(join(args.data, 'vocabulary.json'), 'utf8'));
const parts = JSON.parse(readFileSync(join(args.vectors, 'parts.json'), 'utf8'));
const raw = readFileSync(join(args.vectors, 'vectors.f32'));
const floats = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
const dimensions = floats.length / vocabulary.length;

const order = vocabulary.map((_, number) => number).sort((a, b) => (vocabulary[a] < vocabulary[b] ? -1 : 1));
const vectors = new Int8Array(floats.length);
const scales = new Float32Array(vocabulary.length);
for (const [place, number] of order.entries()) {
  const vector = floats.subarray(number * dimensions, (number + 1) * dimensions);
  const { values, scale } = toMeaning(vector);
  vectors.set(values, place * dimensions);
  scales[place] = scale * Math.hypot(...vector);
}
const id = createHash('sha256').update(vectors).update(new Uint8Array(scales.buffer)).digest('hex').slice(0, 16);
const bytes = encodeModel({
  id,
  dimensions,
  partWeights: parts.map((weight) => Math.round(weight * 1e4) / 1e4),
  dictionary: createDictionary(order.map((number) => vocabulary[number])),
  vectors,
  scales,
});
if (bytes.length > MOST_BYTES) throw new Error(`The model has ${bytes.length} bytes, more than ${MOST_BYTES}.`);
mkdirSync(dirname(args.out), { recursive: true });
writeFileSync(args.out, bytes);
process.stdout.write(
  `${args.out}: ${vocabulary.length} words, ${dimensions} dimensions, ${bytes.length} bytes, id ${id}\n`,
);
