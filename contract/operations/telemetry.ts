import { administrator, type Operation, scope } from './operation.ts'

/** Telemetry, and the numbers made of it. */
export const telemetryOperations = {
  ingestEvent: {
    method: 'POST',
    path: '/api/v1/telemetry/events',
    access: scope('telemetry:write'),
    rateClass: 'telemetry-ingest',
    tag: 'Telemetry',
    summary: 'Ingest one telemetry event',
  },
  ingestBatch: {
    method: 'POST',
    path: '/api/v1/telemetry/events:batch',
    access: scope('telemetry:write'),
    rateClass: 'telemetry-ingest',
    tag: 'Telemetry',
    summary: 'Ingest up to 1,000 telemetry events',
  },
  summarizeTelemetry: {
    method: 'GET',
    path: '/api/v1/telemetry/summary',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Usage, latency and costs by time and group',
  },
  reconcileTelemetry: {
    method: 'GET',
    path: '/api/v1/telemetry/reconciliation',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Reported and computed costs side by side',
  },
  listCostExceptions: {
    method: 'GET',
    path: '/api/v1/telemetry/reconciliation/exceptions',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Events without a price, or whose two costs differ',
  },
  getPrices: {
    method: 'GET',
    path: '/api/v1/telemetry/prices',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: "Get the tenant's own prices and the catalogue's version",
  },
  replacePrices: {
    method: 'PUT',
    path: '/api/v1/telemetry/prices',
    access: administrator,
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: "Replace the tenant's own prices",
  },
  rateTelemetryAgain: {
    method: 'POST',
    path: '/api/v1/telemetry/prices:rerate',
    access: administrator,
    rateClass: 'hub-read',
    tag: 'Telemetry',
    summary: 'Rate stored events again at the prices of now',
  },
} as const satisfies Record<string, Operation>
