import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { DomainError } from '../../contract/domain-error.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { createExportWriter } from '../../server/modules/exports/files/export-writer.ts'
import type { Storage } from '../../server/storage/storage.ts'
import { callerOf, decision, telemetry } from '../hub/record-lab.ts'
import { type ExportLab, linesOf, openExportLab } from './files-lab.ts'

const count = 10_000

let lab: ExportLab
let tenant: Tenant
let ids: string[]

beforeAll(async () => {
  lab = await openExportLab()
  tenant = await lab.openTenant('acme')
  ids = await lab.load(tenant, count, telemetry)
})
afterAll(() => lab.drop())

describe.each(['jsonl', 'csv', 'parquet'] as const)('an export in %s', (format) => {
  test('tells how far it is, up to all', async () => {
    const { progress, rows } = await lab.export(tenant, { format })
    expect(rows).toBe(count)
    expect(progress[0]).toEqual([0, count])
    expect(progress.at(-1)).toEqual([count, count])
    expect(progress.length).toBeGreaterThan(4)
    const done = progress.map(([passed]) => passed)
    expect(done).toEqual([...done].sort((a, b) => a - b))
  })

  test('counts the rows that a filter leaves', async () => {
    const middle = ids[count / 2]!
    const { progress, rows } = await lab.export(tenant, { format, filter: { record_id: middle } })
    expect(rows).toBe(1)
    expect(progress.at(-1)).toEqual([1, 1])
    expect(progress.every(([written, total]) => written <= total && total <= count)).toBe(true)
  })

  test.each(['at once', 'half-way', 'at its end'])('that is cancelled %s leaves no file', async (when) => {
    const before = await lab.files()
    const reason = new Error('cancelled')
    const cancelling = new AbortController()
    const from = { 'at once': 0, 'half-way': count / 2, 'at its end': count }[when]!
    const written = lab.export(
      tenant,
      { format },
      { signal: cancelling.signal, onProgress: (done) => (done >= from ? cancelling.abort(reason) : undefined) },
    )
    await expect(written).rejects.toBe(reason)
    expect(await lab.files()).toEqual(before)
  })

  test('whose progress cannot be told fails, and leaves no file', async () => {
    const before = await lab.files()
    const failure = new Error('no database')
    const onProgress = (done: number) => {
      if (done > count / 2) throw failure
    }
    await expect(lab.export(tenant, { format }, { onProgress })).rejects.toBe(failure)
    expect(await lab.files()).toEqual(before)
  })
})

test('an export that was cancelled before it began does nothing', async () => {
  const reason = new Error('cancelled')
  const signal = AbortSignal.abort(reason)
  await expect(lab.export(tenant, {}, { signal })).rejects.toBe(reason)
})

describe('a storage that fails', () => {
  const failing = (part: RegExp, bytesMax: number): Storage => ({
    ...bound(lab.storage),
    async write(key, content) {
      if (!part.test(key) || content instanceof Uint8Array) return lab.storage.write(key, content)
      let bytes = 0
      for await (const chunk of content) {
        bytes += (chunk as Buffer).length
        if (bytes > bytesMax) throw new DomainError('hub-unavailable', 'The disk is full.')
      }
    },
  })

  test.each([
    ['in the file', /\.jsonl$/, 1_000_000],
    ['in the seals', /\.seals$/, 0],
    ['in the manifest', /\.manifest\.json$/, 100],
  ])('%s is the reason that the export fails', async (_, part, bytesMax) => {
    const before = await lab.files()
    await expect(lab.export(tenant, {}, { storage: failing(part, bytesMax) })).rejects.toThrow('The disk is full.')
    expect(await lab.files()).toEqual(before)
  })

  test('slowly holds the export back', async () => {
    let taken = 0
    let waiting: (() => void) | undefined
    const slow: Storage = {
      ...bound(lab.storage),
      write: (key, content) => {
        if (!key.endsWith('.jsonl') || content instanceof Uint8Array) return lab.storage.write(key, content)
        const through = new PassThrough({ highWaterMark: 1 })
        const pumped = (async () => {
          for await (const chunk of content) {
            taken += (chunk as Buffer).length
            if (taken > 1_000_000 && waiting === undefined) await new Promise<void>((resolve) => (waiting = resolve))
            if (!through.write(chunk)) await new Promise((resolve) => through.once('drain', resolve))
          }
          through.end()
        })()
        return Promise.all([lab.storage.write(key, through), pumped]).then(() => {})
      },
    }
    let done = 0
    const written = lab.export(
      tenant,
      {},
      {
        storage: slow,
        onProgress: (passed) => {
          done = passed
        },
      },
    )
    await expect.poll(() => waiting).toBeDefined()
    // What is on its way are a few chunks and pages.
    const stalledAt = await stable(() => done)
    expect(stalledAt).toBeLessThan(count * 0.8)
    waiting!()
    expect((await written).rows).toBe(count)
  })
})

test('an export that begins again replaces what the one before has left', async () => {
  const order = lab.orderOf()
  const writer = createExportWriter(lab.deps)
  const { file, manifest } = writer.fileNames(order)
  for (const name of [file, manifest!, `${file}.seals`]) {
    await lab.storage.write(writer.keyOf(tenant.slug, order.jobId, name), Buffer.from('left over'))
  }
  const written = await lab.export(tenant, order)
  expect(written.rows).toBe(count)
  expect((await verifyFile(written.path, {})).report.verified).toBe(true)
  expect((await lab.files()).filter((name) => name.includes(order.jobId)).sort()).toEqual([file, manifest].sort())
})

describe('meanwhile', () => {
  test('others write: what comes after the beginning is not in it, and it verifies', async () => {
    let more = 0
    const written = await lab.export(
      tenant,
      {},
      {
        onProgress: async () => {
          await lab.writeRecords(tenant, decision(`meanwhile ${++more}`))
          await lab.logs.integrate(tenant)
        },
      },
    )
    expect(more).toBeGreaterThan(4)
    expect(written.rows).toBe(count)
    const { report } = await verifyFile(written.path, {})
    expect(report).toMatchObject({ verified: true, missing: 0 })
    ids.push(
      ...linesOf((await lab.export(tenant)).text)
        .slice(count)
        .map((line) => String(line.record_id)),
    )
  })

  test('a record is purged before it is reached: it is left out, and the file is complete without it', async () => {
    const victim = ids[count - 10]!
    let isPurged = false
    const written = await lab.export(
      tenant,
      {},
      {
        onProgress: async () => {
          if (isPurged) return
          isPurged = true
          await lab.purger.purge(callerOf(tenant), victim, { reason: 'test' })
        },
      },
    )
    expect(written.text.includes(`"record_id":"${victim}"`)).toBe(false)
    expect(written.manifest.counts).toEqual({ exported: ids.length - 1, left_out: 1 })
    const { report } = await verifyFile(written.path, {})
    expect(report).toMatchObject({ verified: true, missing: 0 })
    expect(report.manifest?.leftOut).toBe(1)
  })

  test('a record is purged after it was written: it stays in the file', async () => {
    const victim = ids[3]!
    let isPurged = false
    const written = await lab.export(
      tenant,
      {},
      {
        onProgress: async (done) => {
          if (isPurged || done < count / 2) return
          isPurged = true
          await lab.purger.purge(callerOf(tenant), victim, { reason: 'test' })
        },
      },
    )
    expect(written.text.includes(`"record_id":"${victim}"`)).toBe(true)
    expect((await verifyFile(written.path, {})).report.verified).toBe(true)
    const again = await lab.export(tenant)
    expect(again.text.includes(`"record_id":"${victim}"`)).toBe(false)
  })
})

function bound(storage: Storage): Storage {
  return {
    write: storage.write.bind(storage),
    read: storage.read.bind(storage),
    size: storage.size.bind(storage),
    delete: storage.delete.bind(storage),
    list: storage.list.bind(storage),
    place: storage.place,
  }
}

/** Of a number that has not changed for a while. */
async function stable(read: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = read()
    if (now === last) return now
    last = now
    await lab.database.ping()
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}
