/**
 * Reads the standard variables of OpenTelemetry.
 * @module
 */

const EXPORTERS = ['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER'];
const ENDPOINTS = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
];

/** Tells whether the environment asks for traces or metrics. Nothing is loaded otherwise. */
export function wantsOpenTelemetry(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  const exporters = EXPORTERS.flatMap((name) => env[name] || []);
  return exporters.length > 0 ? exporters.some((one) => one !== 'none') : ENDPOINTS.some((name) => env[name]);
}
