/**
 * Leads from an engine as programs see it to its inside, which the gateway, the command line and other views of it use.
 * @module
 */
import type { EngineCore } from './engine-core.ts';

/** Where an engine keeps its inside. */
export const CORE = Symbol('engine core');

/** An engine, as whatever serves it takes it: a `DiscoveryEngine`. */
export interface EngineHandle {
  readonly [CORE]: EngineCore;
}

/** The inside of an engine. */
export const coreOf = (engine: EngineHandle): EngineCore => engine[CORE];

/** Whether something is an engine. */
export const isEngine = (given: unknown): given is EngineHandle =>
  typeof given === 'object' && given !== null && CORE in given;
