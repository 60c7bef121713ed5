/**
 * Gives the gateway, the command line and other views access to the core of a program's engine.
 * @module
 */
import type { EngineCore } from './engine-core.ts';

/** The key of an engine's core. */
export const CORE = Symbol('engine core');

/** Anything with an engine core, such as a `DiscoveryEngine`. */
export interface EngineHandle {
  readonly [CORE]: EngineCore;
}

export const coreOf = (engine: EngineHandle): EngineCore => engine[CORE];

/** Tells whether a value is an engine. */
export const isEngine = (given: unknown): given is EngineHandle =>
  typeof given === 'object' && given !== null && CORE in given;
