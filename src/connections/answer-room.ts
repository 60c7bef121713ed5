/**
 * Bounds the memory of large messages that servers have begun to send, over all servers.
 *
 * When there is no room, a message waits unread while others are received. One that stalls meanwhile is given up.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

interface Held {
  readonly giveUp: () => void;
  bytes: number;
  /** Its bytes at the last look. Undefined if it could not grow since then. */
  seen: number | undefined;
  isWhole: boolean;
  /** Lets a waiting message be read on. */
  goOn: (() => void) | undefined;
}

export class AnswerRoom {
  /** The message that began first is first. */
  readonly #held = new Map<object, Held>();
  #bytes = 0;
  #looking: NodeJS.Timeout | undefined;

  /** Notes that `message` holds `bytes` now. Settles when more of it may be read; undefined if that is now. */
  hold(message: object, bytes: number, giveUp: () => void): Promise<void> | undefined {
    if (bytes <= LIMITS.wire.large) return void this.leave(message);
    const held = this.#held.get(message) ?? { giveUp, bytes: 0, seen: undefined, isWhole: false, goOn: undefined };
    this.#held.set(message, held);
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
    if (this.#mayGrow(message)) return undefined;
    this.#looking ??= setInterval(() => this.#look(), LIMITS.pace.stalledAnswers).unref();
    return new Promise((resolve) => {
      held.goOn = resolve;
    });
  }

  /** Notes that `message` is whole. It keeps its room until it is parsed. */
  finish(message: object): void {
    const held = this.#held.get(message);
    if (held) held.isWhole = true;
  }

  leave(message: object): void {
    const held = this.#held.get(message);
    if (!held) return;
    this.#held.delete(message);
    this.#bytes -= held.bytes;
    held.goOn?.();
    let isFull = false;
    for (const [other, held] of this.#held) {
      if (!held.goOn) continue;
      isFull ||= !this.#mayGrow(other);
      if (isFull) return;
      held.goOn();
      held.goOn = undefined;
      held.seen = undefined;
    }
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** The oldest message may always grow: it will end or stall. */
  #mayGrow(message: object): boolean {
    return this.#bytes <= LIMITS.wire.answers || this.#held.keys().next().value === message;
  }

  /**
   * Gives up messages that hardly grew since the last look. Even a busy process reads all that arrives between two
   * looks.
   */
  #look(): void {
    for (const [message, held] of [...this.#held]) {
      const stalls = held.seen !== undefined && held.bytes - held.seen < LIMITS.wire.large;
      held.seen = held.bytes;
      if (!stalls || held.isWhole || held.goOn || this.#looking === undefined) continue;
      this.leave(message);
      held.giveUp();
    }
  }
}

/** The room of this process, shared by all its engines. */
export const answerRoom = new AnswerRoom();
