import type { Config } from '../config.ts'

const poolSizeMin = 2
/** The connections that an embedded server accepts for a service of one process. */
const embeddedConnections = 200
/** The connections of the primary itself, of commands beside the service, and reserved ones. */
const otherConnections = 60
/** The connections of a worker that sends jobs. */
const jobConnections = 2
/** The connection that listens for revoked tokens. */
const listeningConnections = 1
/** The connection that only checks whether the database answers. */
const healthConnections = 1

/** Returns the number of connections of the application role for each process of a cluster: its share of the whole. */
export function poolSizeOf({ databasePoolSize, workers }: Pick<Config, 'databasePoolSize' | 'workers'>): number {
  return Math.max(poolSizeMin, Math.ceil(databasePoolSize / workers))
}

/** Returns the number of connections that an embedded server must accept for a cluster to use all of its own. */
export function serverConnections(config: Pick<Config, 'databasePoolSize' | 'workers'>): number {
  const size = poolSizeOf(config)
  const each = size + Math.ceil(size / 2) + jobConnections + listeningConnections + healthConnections
  return Math.max(embeddedConnections, (config.workers + 1) * each + otherConnections)
}
