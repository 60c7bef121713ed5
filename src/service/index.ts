/**
 * Exports the discovery service (`@anygpt/discovery/service`).
 * @module
 */
export type {
  PromptArgument,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ServerItems,
} from '../core/types.ts';
export type { DiscoveredTool } from './discover-server.ts';
export type { DiscoveryOptions, RateLimitConfig, RetryPolicy } from './discovery-options.ts';
export {
  DiscoveryService,
  type ServerChoice,
  type ServerDiscovery,
  type ServerMatch,
  type WarmCacheStats,
} from './discovery-service.ts';
export type { ExportFormat } from './export/export-formats.ts';
export type { CapabilityManifest, CapabilityProvider, ManifestTool } from './manifest.ts';
export type { CapabilityPort, ServicePorts } from './register-capabilities.ts';
