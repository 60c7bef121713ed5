/**
 * Estimates how many tokens a model pays for a tool's definition.
 * @module
 */
import { estimateTokens } from './estimate-tokens.ts';

/** The parts of a tool that reach a model. */
interface ShownTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
}

// `estimateTokens` never estimates too low, so for tool definitions it is about twice too high. Divided by this factor,
// 82 of 86 real servers were within a tenth of o200k's count, the other four within three tenths.
const TOO_HIGH = 1.95;

/** Estimates the tokens (o200k) of a definition's text; for sums and comparisons, not for limits. */
export const aboutTokens = (text: string): number => Math.round(estimateTokens(text) / TOO_HIGH);

/** Estimates the tokens (o200k) of a definition in every request that carries it. */
export const definitionTokens = ({ name, description, inputSchema }: ShownTool): number =>
  aboutTokens(JSON.stringify({ name, description, inputSchema }));
