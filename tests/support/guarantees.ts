import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = join(root, 'docs/guarantees.md')

export interface MeasuredFault {
  /** Names the fault, as in the table. */
  readonly fault: string
  /** The ids that were acknowledged. */
  readonly acknowledged: Iterable<string>
  /** The ids that were found afterwards, an id as often as it was found. */
  readonly found: Iterable<string>
  /** Milliseconds from the fault until requests were accepted again, at most. */
  readonly recoveryMs?: number
}

/**
 * Requires that every acknowledged id was found, and none twice. `vitest --update` writes the figures into
 * docs/guarantees.md; otherwise the page must have the fault.
 */
export async function reportFault({ fault, acknowledged, found, recoveryMs }: MeasuredFault): Promise<void> {
  const [ids, all] = [new Set(acknowledged), [...found]]
  const stored = new Set(all)
  const lost = [...ids].filter((id) => !stored.has(id)).length
  const doubled = all.length - stored.size
  expect({ lost, doubled }).toEqual({ lost: 0, doubled: 0 })
  const file = relative(root, expect.getState().testPath!)
  const seconds = recoveryMs === undefined ? '' : `${(recoveryMs / 1000).toFixed(1)} s`
  const key = `| ${fault} |`
  const row = `${key} ${ids.size.toLocaleString('en')} | ${lost} | ${doubled} | ${seconds} | \`${file}\` |`
  if (expect.getState().snapshotState.snapshotUpdateState === 'all') await writeRow(key, row)
  expect(await readFile(page, 'utf8'), 'run this test with --update').toContain(key)
}

async function writeRow(key: string, row: string): Promise<void> {
  const lines = (await readFile(page, 'utf8')).split('\n')
  const first = lines.findIndex((line) => line.startsWith('|---')) + 1
  const end = lines.findIndex((line, at) => at >= first && !line.startsWith('|'))
  const rows = [...lines.slice(first, end).filter((line) => !line.startsWith(key)), row].sort()
  await writeFile(page, [...lines.slice(0, first), ...rows, ...lines.slice(end)].join('\n'))
}
