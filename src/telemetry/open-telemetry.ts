/**
 * Starts an OpenTelemetry SDK as the standard variables say.
 * @module
 */
import { messageOf } from '../text/thrown-message.ts';
import { Tracing, type TracingOptions } from './tracing.ts';

/** Spans and durations, and how to send what is left of them. */
interface OpenTelemetry {
  readonly tracing: Tracing;
  close(): Promise<void>;
}

/**
 * Starts the SDK. A program that has started one of its own (`node --import …`) keeps it.
 * @param say called with the reason if it cannot be started
 */
export async function openTelemetry(say: (message: string) => void, options: TracingOptions): Promise<OpenTelemetry> {
  const { isSpanContextValid, trace } = await import('@opentelemetry/api');
  // Shows whether a program has started an SDK. It is never ended, so it is never reported.
  const probe = trace.getTracer('probe').startSpan('probe').spanContext();
  const close = isSpanContextValid(probe) ? async () => {} : await startSdk(say);
  return { tracing: new Tracing(options), close };
}

async function startSdk(say: (message: string) => void): Promise<() => Promise<void>> {
  try {
    // The programs bring it along, in a file of its own.
    const { NodeSDK } = await import('@opentelemetry/sdk-node');
    const sdk = new NodeSDK({ instrumentations: [] });
    sdk.start();
    return async () => {
      await sdk.shutdown().catch((error: unknown) => say(`Telemetry was not sent: ${messageOf(error)}`));
    };
  } catch (error) {
    say(`OTEL_ variables ask for telemetry, but it cannot be sent: ${messageOf(error)}`);
    return async () => {};
  }
}
