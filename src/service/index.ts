/**
 * Exports the discovery service (`@anygpt/discovery/service`).
 * @module
 */
export type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ServerItems,
} from '../core/types.ts';
export type { DiscoveredTool } from './discover-server.ts';
export type { DiscoveryOptions, RateLimitConfig, RetryPolicy } from './discovery-options.ts';
export {
  DiscoveryService,
  type ServerDiscovery,
  type ServerMatch,
} from './discovery-service.ts';
export type { CapabilityManifest } from './manifest.ts';
export type { CapabilityPort } from './register-capabilities.ts';
