/**
 * Measures how similar a model finds unrelated things, by comparing a query with made-up tools. Some models give 0.1
 * and some 0.7; relative to this baseline, the cosines of all models are comparable.
 * @module
 */
import type { ToolMetadata } from '../core/types.ts';
import type { SourceServer } from './tool-source.ts';
import type { VectorTable } from './vector-table.ts';

const TEXTS: readonly (readonly [server: string, name: string, description: string])[] = [
  ['weather', 'get_forecast', 'Tells the weather of the next days in a town.'],
  ['kitchen', 'find_recipe', 'Finds a recipe for what is in the fridge.'],
  ['garden', 'water_plants', 'Waters a flower bed for some minutes.'],
  ['trains', 'plan_journey', 'Plans a journey by train between two stations.'],
  ['music', 'play_song', 'Plays a song on the loudspeakers of a room.'],
  ['bank', 'show_balance', 'Shows the balance of a bank account.'],
  ['repository', 'list_commits', 'Lists the last commits of a branch.'],
  ['mailbox', 'send_message', 'Sends an e-mail with attachments.'],
  ['database', 'run_query', 'Runs an SQL query and returns the rows.'],
  ['files', 'read_text', 'Reads a text file from a folder.'],
  ['cluster', 'restart_pod', 'Restarts a container in a cluster.'],
  ['clinic', 'book_appointment', 'Books an appointment with a doctor.'],
  ['pictures', 'resize_image', 'Makes a picture smaller.'],
  ['calendar', 'add_event', 'Adds a meeting to a calendar.'],
  ['stars', 'locate_planet', 'Says where a planet stands in the sky tonight.'],
  ['translation', 'translate_text', 'Translates a text into another language.'],
];

/** A pseudo-server; no real server has an empty name. */
export const BACKGROUND: SourceServer = { name: '', fingerprint: 'background', stamp: '1', toolCount: TEXTS.length };

/** The tools of the pseudo-server. */
export const backgroundTools = (): ToolMetadata[] =>
  TEXTS.map(([server, name, description]) => ({ server, name, description, summary: '', enabled: true, tags: [] }));

const HIGHEST = 0.95;

/** Returns the mean cosine with the background, without the best two, which may fit the query; 0 if unknown. */
export function baselineOf(table: VectorTable | undefined, unit: Float32Array): number {
  if (table?.dimensions !== unit.length || table.filled < TEXTS.length / 2) return 0;
  const rows = [...table.names.keys()].filter((row) => table.has(row));
  const cosines = rows.map((row) => table.cosine(row, unit)).sort((a, b) => a - b);
  const usual = cosines.slice(0, -2);
  const mean = usual.reduce((sum, cosine) => sum + cosine, 0) / usual.length;
  return Math.min(HIGHEST, Math.max(0, mean));
}

/** Scales a cosine to the baseline: 0 for unrelated, 1 for identical. */
export const aboveBaseline = (cosine: number, baseline: number): number =>
  Math.max(-1, Math.min(1, (cosine - baseline) / (1 - baseline)));
