/**
 * Implements the handle of a registered tool, with which the program updates, disables or removes it.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { checkOptions, withoutNulls } from './check-options.ts';
import type { ListChanges } from './list-changes.ts';
import { FIELDS, type RegisteredTool } from './registered-tool.ts';
import type { RegisteredTools } from './registered-tools.ts';
import type { ToolChanges, ToolHandler, ToolOptions, ToolSchema } from './tool-registration.ts';

type Options = ToolOptions<ToolSchema, ToolSchema>;
type Handler = ToolHandler<ToolSchema, ToolSchema>;

/** What all handles of a registry share. */
export interface Registration {
  readonly prepare: (name: string, options: Options, handler: Handler) => RegisteredTool;
  readonly tools: RegisteredTools;
  /** Every taken name, including those of disabled tools. */
  readonly handles: Map<string, RegisteredHandle>;
  readonly changes: ListChanges;
}

/** Implements `ToolHandle` for any schema. */
export class RegisteredHandle {
  readonly #registration: Registration;
  #options: Options;
  #handler: Handler;
  #tool: RegisteredTool;
  #enabled = true;

  /** Registers a tool. Throws `ValidationError` if it cannot be registered. */
  constructor(registration: Registration, name: string, options: Options, handler: Handler) {
    this.#registration = registration;
    this.#tool = this.#prepare(name, options, handler);
    this.#options = options;
    this.#handler = handler;
    this.#replace(undefined, this.#tool);
  }

  get name(): string {
    return this.#tool.definition.name;
  }

  get enabled(): boolean {
    return this.#enabled && this.#isRegistered;
  }

  update(changes: ToolChanges<ToolSchema, ToolSchema>): void {
    if (!this.#isRegistered) throw new ValidationError(`${this.name}: the tool was removed; register it again`);
    const given = Object.fromEntries(
      Object.entries(withoutNulls(changes)).filter(([, value]) => value !== undefined),
    ) as typeof changes;
    checkOptions(given, CHANGES, (field) => `${this.name}: a tool has no field "${field}"`);
    const { name = this.name, handler = this.#handler, enabled = this.#enabled, ...rest } = given;
    const options = { ...this.#options, ...rest };
    const tool = this.#prepare(name, options, handler);
    const before = this.#enabled ? this.#tool : undefined;
    this.#registration.handles.delete(this.name);
    this.#tool = tool;
    this.#options = options;
    this.#handler = handler;
    this.#enabled = enabled;
    this.#replace(before, enabled ? tool : undefined);
  }

  enable(): void {
    this.update({ enabled: true });
  }

  disable(): void {
    this.update({ enabled: false });
  }

  remove(): void {
    if (!this.#isRegistered) return;
    this.#replace(this.#enabled ? this.#tool : undefined, undefined);
    this.#registration.handles.delete(this.name);
  }

  get #isRegistered(): boolean {
    return this.#registration.handles.get(this.name) === this;
  }

  #prepare(name: string, options: Options, handler: Handler): RegisteredTool {
    const tool = this.#registration.prepare(name, options, handler);
    const holder = this.#registration.handles.get(name);
    if (holder === undefined || holder === this) return tool;
    throw new ValidationError(`A tool "${name}" is already registered; unregister it first, or choose another name`);
  }

  #replace(before: RegisteredTool | undefined, after: RegisteredTool | undefined): void {
    const { tools, handles, changes } = this.#registration;
    if (before) tools.delete(before.definition.name);
    if (after) tools.add(after);
    handles.set(this.name, this);
    if (before || after) changes.announce(before?.visible || after?.visible ? 'visible' : 'hidden');
  }
}

const CHANGES = { ...FIELDS, name: 'any', handler: 'any', enabled: 'flag' } as const;
