import { rateLimits } from '../../contract/limits.ts'
import { cpuMicrosOf, measuredCosts } from './measured-costs.ts'

/** The load to plan for. */
export interface ExpectedLoad {
  /** Telemetry events of all tenants. */
  eventsPerDay: number
  eventsPerRequest: number
  /** Rate of the busiest minute, as a multiple of the mean rate of a day. */
  peak: number
  retentionDays: number
  tenants: number
}

/** One machine of the kind to plan with. */
export interface Machine {
  cores: number
  diskGb: number
}

/** How busy the cores may be at the peak: waiting grows fast beyond it. */
const busyMax = 0.6
/** Disk space beside the data: VACUUM, temporary files and the WAL of a few hours. */
const freeDiskFactor = 1.5
/** A stream of WAL that one server with a fast disk and one standby over a 10-gigabit network still writes. */
const walBytesPerSecondMax = 200e6
const secondsPerDay = 86_400

export type CapacityPlan = ReturnType<typeof planCapacity>

/** Returns the resources that a load needs, by the measured costs, and what must change to carry it. */
export function planCapacity(load: ExpectedLoad, machine: Machine) {
  const mean = load.eventsPerDay / secondsPerDay
  const peak = mean * load.peak
  const coresFor = (part: 'hub' | 'database') => (peak * cpuMicrosOf(part, load.eventsPerRequest)) / 1e6 / busyMax
  const storedEvents = load.eventsPerDay * load.retentionDays
  const figures = {
    events_per_second: { mean, peak },
    /** In the busiest minute, if all tenants are alike. */
    requests_per_minute_of_tenant: (peak * 60) / load.eventsPerRequest / load.tenants,
    cores: { hub: coresFor('hub'), database: coresFor('database') },
    stored_events: storedEvents,
    disk_bytes: storedEvents * measuredCosts.diskBytes * freeDiskFactor,
    wal_bytes: {
      per_day: load.eventsPerDay * measuredCosts.walBytes,
      per_second_at_peak: peak * measuredCosts.walBytes,
    },
  }
  const servers = serversFor(figures, machine)
  return { ...figures, ...servers, advice: adviceFor(load, figures, servers) }
}

type Figures = {
  requests_per_minute_of_tenant: number
  cores: { hub: number; database: number }
  disk_bytes: number
  wal_bytes: { per_second_at_peak: number }
}

/** Counts machines. One is enough for both parts if their cores and the disk suffice. */
function serversFor({ cores, disk_bytes, wal_bytes }: Figures, machine: Machine) {
  const diskBytes = machine.diskGb * 1e9
  const isOne = cores.hub + cores.database <= machine.cores && disk_bytes <= diskBytes
  const databaseServers = Math.max(
    Math.ceil(cores.database / machine.cores),
    Math.ceil(disk_bytes / diskBytes),
    Math.ceil(wal_bytes.per_second_at_peak / walBytesPerSecondMax),
    1,
  )
  const hubServers = isOne ? 0 : Math.max(1, Math.ceil(cores.hub / machine.cores))
  return { one_machine: isOne && databaseServers === 1, hub_servers: hubServers, database_servers: databaseServers }
}

function adviceFor(load: ExpectedLoad, figures: Figures, servers: ReturnType<typeof serversFor>): string[] {
  const advice: string[] = []
  const limit = rateLimits['telemetry-ingest'].perTenant
  if (figures.requests_per_minute_of_tenant > limit) {
    const size = Math.ceil((figures.requests_per_minute_of_tenant * load.eventsPerRequest) / limit)
    advice.push(
      size <= 1000
        ? `A tenant sends more than ${limit} requests a minute: put ${size} events or more into a request.`
        : `A tenant sends more than ${limit} full batches a minute: raise its limit with hub tenant limits.`,
    )
  }
  if (servers.one_machine) {
    const workers = Math.max(1, Math.ceil(figures.cores.hub))
    advice.push(
      workers === 1
        ? 'One machine is enough, with one process and its embedded PostgreSQL or one beside it.'
        : `One machine is enough, with HUB_WORKERS=${workers} and PostgreSQL on it.`,
    )
    return advice
  }
  advice.push('Run PostgreSQL on a machine of its own, and set HUB_DATABASE_URL.')
  if (servers.hub_servers > 1) {
    advice.push('Several machines run the Hub: set HUB_VALKEY_URL, so that they count requests together.')
  }
  if (servers.database_servers > 1) {
    advice.push(
      `One database server does not carry this: ${servers.database_servers} would. This version does not distribute a database. ` +
        'Run several Hubs with a part of the tenants each, keep events for fewer days, or plan with larger machines.',
    )
  }
  return advice
}
