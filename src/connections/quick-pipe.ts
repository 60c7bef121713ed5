/**
 * Pipes between processes, for short messages without the ceremony of Node's streams.
 *
 * A stream takes new memory for every read, and puts what it reads and writes through queues of its own; for a short message
 * that is about as much work as parsing it. Here all pipes are read into one buffer, and what a pipe has room for is written at
 * once. The stream is there for everything else: pauses, ends, errors, and what must wait because nobody reads. This needs
 * a pipe's handle, which Node does not document; a stream without one is used as it is.
 * @module
 */
import { writeSync } from 'node:fs';
import { Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable, Writable } from 'node:stream';

/** What is read lies here until it has been handed on, which is before anything else is read. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);
/** In characters. With longer messages there is little to gain, and one that does not fit is turned into bytes twice. */
const MOST_AT_ONCE = 16 * 1024;

interface Plumbing {
  /** Set where one stream stands before another: the pipe it ends in. */
  readonly pipeFd?: number | undefined;
  _handle?: { readonly fd?: number } | null;
}

/**
 * Takes a pipe away from a stream that nobody has read yet, and reads it in place: a chunk is good only until its listener
 * returns. The stream closes with it, and cannot write any more if it could.
 */
export function readInPlace(stream: Readable): Readable {
  const handle = handleOf(stream);
  if (!handle || stream.readableFlowing !== null || stream.readableLength > 0) return stream;
  (stream as Plumbing)._handle = null;
  const onread = {
    buffer: SHARED,
    callback: (size: number, chunk: Uint8Array) => pipe.emit('data', chunk.subarray(0, size)),
  };
  const pipe = new Socket({ handle, readable: true, writable: false, onread } as SocketConstructorOpts);
  pipe.once('close', () => stream.destroy());
  return pipe;
}

/** The number of the pipe that a stream writes to; none if it writes to something else, or not at all any more. */
export function pipeOf(stream: Writable): number | undefined {
  const fd = stream.writable ? ((stream as Plumbing).pipeFd ?? handleOf(stream)?.fd) : undefined;
  return fd !== undefined && fd >= 0 ? fd : undefined;
}

/** Writes as `stream.write` does, and returns the same. */
export function writeAtOnce(stream: Writable, text: string): boolean {
  const pipe = stream.writableLength === 0 && text.length <= MOST_AT_ONCE ? pipeOf(stream) : undefined;
  if (pipe === undefined) return stream.write(text);
  let written: number;
  try {
    written = writeSync(pipe, text);
  } catch {
    // Full or broken: the stream waits, or says what has happened.
    return stream.write(text);
  }
  return written === Buffer.byteLength(text) || stream.write(Buffer.from(text).subarray(written));
}

/** Of a pipe as such: terminals and files are something else, and sockets of a network note when something was sent. */
function handleOf(stream: Readable | Writable): Plumbing['_handle'] {
  if (process.platform === 'win32' || Object.getPrototypeOf(stream) !== Socket.prototype) return undefined;
  const { _handle: handle } = stream as Plumbing;
  return handle?.constructor.name === 'Pipe' ? handle : undefined;
}
