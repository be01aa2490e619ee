import { type BenchHub, type BenchTenant, startBenchHub } from './bench-hub.ts'
import { fillDataset, prepareDataset } from './dataset.ts'
import type { Run } from './figure.ts'

export type Size = 'small' | 'large'

/** A service with a filled dataset. */
export interface FilledHub {
  hub: BenchHub
  /** The tenant with `records` events. */
  tenant: BenchTenant
  records: number
}

const tenants = 3

/** Options of benchmarks that compare two sizes: data directories to use and keep, and the larger size. */
export const sizeFlags = ['small', 'large', 'records']

/**
 * Returns a size: `--records N` is the larger one, 10 million if absent; the smaller one is a hundredth, as in the
 * target.
 */
export function recordsOf(run: Run, size: Size): number {
  const large = Number(run.flag('records') ?? (run.quick ? 20_000 : 10_000_000))
  if (!Number.isSafeInteger(large) || large < 10_000) throw new Error('--records must be a whole number from 10,000 up')
  return size === 'large' ? large : Math.max(10_000, large / 100)
}

/** Opens a service. Both run at the same time and are measured in turn; the idle one costs nothing. */
export async function openSize(run: Run, size: Size): Promise<FilledHub> {
  return openFilled(recordsOf(run, size), run.flag(size))
}

/** @param dataDir absent, a fresh one that is removed at the end */
export async function openFilled(records: number, dataDir?: string): Promise<FilledHub> {
  const hub = await startBenchHub({ dataDir })
  const dataset = await prepareDataset(hub, { records, tenants })
  await fillDataset(hub, dataset)
  return { hub, tenant: dataset.parts[0].tenant, records }
}
