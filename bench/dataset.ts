// Fills a data directory for the benchmarks, or for a trial of the service at some size. See README.md.
import { parseArgs } from 'node:util'
import { startBenchHub } from './support/bench-hub.ts'
import { cleanUp } from './support/cleanup.ts'
import { fillDataset, prepareDataset } from './support/dataset.ts'

const { values: flags } = parseArgs({
  options: {
    records: { type: 'string', default: '100000' },
    tenants: { type: 'string', default: '3' },
    'data-dir': { type: 'string' },
  },
})

function whole(name: 'records' | 'tenants', min: number, max: number): number {
  const value = Number(flags[name])
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw new Error(`--${name} must be a whole number from ${min} to ${max}, not ${flags[name]}`)
}

try {
  const size = { records: whole('records', 10_000, 10_000_000), tenants: whole('tenants', 1, 20) }
  const dataDir = flags['data-dir']
  if (dataDir === undefined) throw new Error('--data-dir says where the data goes; a run that was broken off goes on')
  const hub = await startBenchHub({ dataDir })
  const dataset = await prepareDataset(hub, size)
  const { seconds } = await fillDataset(hub, dataset)
  const tenants = dataset.parts.map(({ tenant, records }) => ({ tenant: tenant.slug, records }))
  console.table(tenants)
  console.log(JSON.stringify({ ...size, seconds: Math.round(seconds), tenants }))
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await cleanUp()
}
process.exit()
