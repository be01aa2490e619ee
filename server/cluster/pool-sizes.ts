import type { Config } from '../config.ts'

const poolSizeMin = 2
/** What the embedded server is started with for a service of one process. */
const embeddedConnections = 200
/** The primary's own work, commands beside the service, reserved ones. */
const otherConnections = 60
/** Of a worker that sends jobs. */
const jobConnections = 2
/** One that hears of revoked tokens. */
const listeningConnections = 1
/** One that only tells whether the database answers. */
const healthConnections = 1

/** Connections of the application role that each process of a cluster may have: its part of the whole. */
export function poolSizeOf({ databasePoolSize, workers }: Pick<Config, 'databasePoolSize' | 'workers'>): number {
  return Math.max(poolSizeMin, Math.ceil(databasePoolSize / workers))
}

/** How many connections an embedded server must take, so that a cluster can use all of its own. */
export function serverConnections(config: Pick<Config, 'databasePoolSize' | 'workers'>): number {
  const size = poolSizeOf(config)
  const each = size + Math.ceil(size / 2) + jobConnections + listeningConnections + healthConnections
  return Math.max(embeddedConnections, (config.workers + 1) * each + otherConnections)
}
