import { stat } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Metrics } from '../../server/metrics/metrics.ts'
import type { ExportRequest } from '../../server/modules/exports/exports-types.ts'
import { backupSpace, createDiskSpace } from '../../server/storage/disk-space.ts'
import { storageFailed } from '../../server/storage/storage.ts'
import { type ExportJobsLab, exportsPath, startExportJobsLab } from './export-jobs-lab.ts'
import { openExportLab } from './files-lab.ts'

const mebibyte = 1024 * 1024

/** Returns the series of the page whose name begins so. */
async function series(metrics: Metrics, prefix: string): Promise<Record<string, number>> {
  const lines = (await metrics.page()).split('\n').filter((line) => line.startsWith(prefix))
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}

describe('the exports of a tenant', () => {
  let lab: ExportJobsLab
  let free = 600 * mebibyte
  beforeAll(async () => {
    lab = await startExportJobsLab({ quota: { exportsPerDay: 4, bytesKept: 1000 }, freeBytes: async () => free })
  })
  afterEach(() => vi.restoreAllMocks())
  afterAll(() => lab.hub.stop())

  test('are refused while the disk has less free space than the floor', async () => {
    free = 511 * mebibyte
    const refused = await lab.order('acme')
    expect(refused.status, refused.text).toBe(503)
    expect(refused.body).toMatchObject({
      type: expect.stringMatching(/\/errors\/hub-unavailable$/),
      detail: expect.stringMatching(/^Storage is full: the disk of the database/),
      full: 'database',
    })
    expect(refused.headers['retry-after']).toBe('300')
    free = 512 * mebibyte
    expect((await lab.completed('acme')).status).toBe('completed')
  })

  test('that wait are not written while the disk is full, and are written once there is room', async () => {
    const held = lab.hold()
    const { body } = await lab.order('globex')
    await expect.poll(() => held.length).toBe(1)
    free = 0
    held[0]!.fail(storageFailed(Object.assign(new Error('write'), { code: 'ENOSPC' })))
    await lab.until('globex', body.job_id, 'queued')
    lab.letGo()
    free = 512 * mebibyte
    await lab.until('globex', body.job_id, 'completed')
  })

  test('keep no more bytes than their quota, until some have expired', async () => {
    lab.letGo('x'.repeat(1000))
    await lab.completed('acme')
    const refused = await lab.order('acme')
    expect([refused.status, refused.body.detail]).toEqual([
      429,
      expect.stringMatching(/have 10\d\d bytes; the limit is 1000/),
    ])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000)
    expect((await lab.order('globex')).status).toBe(202)
    lab.advance(24 * 3_600_000 + 1000)
    await lab.runChores('acme')
    expect((await lab.order('acme')).status).toBe(202)
  })

  test('are as many a day as their quota', async () => {
    lab.letGo('x')
    for (let count = 1; count < 4; count++) expect((await lab.order('acme')).status).toBe(202)
    const refused = await lab.order('acme')
    expect([refused.status, refused.body.detail]).toEqual([
      429,
      expect.stringContaining('has requested 4 exports within 24 hours; its limit is 4'),
    ])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000)
    lab.advance(24 * 3_600_000 + 1000)
    expect((await lab.order('acme')).status).toBe(202)
  })

  test('that are written side by side count for each other with what they have reserved', async () => {
    lab.advance(24 * 3_600_000 + 1000)
    await lab.runChores('acme')
    const held = lab.hold()
    const start = async () => {
      const { job_id: jobId } = (await lab.order('acme')).body
      const write = () => held.find(({ order }) => order.jobId === jobId)
      await expect.poll(write).toBeDefined()
      return { jobId, write: write()!, reserve: write()!.options.reserve! }
    }
    const [first, second] = [await start(), await start()]
    expect(await first.reserve(600)).toBe(615)
    await expect(second.reserve(386)).rejects.toMatchObject({
      slug: 'rate-limited',
      message: expect.stringContaining('exceed the 385 remaining bytes of the 1000'),
    })
    expect(await second.reserve(380)).toBe(385)
    // The disk may have become full while they are written.
    free = 0
    await expect(second.reserve(380)).rejects.toMatchObject({
      slug: 'hub-unavailable',
      extensions: { full: 'database' },
    })
    free = 512 * mebibyte
    const refused = await lab.order('acme')
    expect([refused.status, refused.body.detail]).toEqual([
      429,
      expect.stringMatching(/have 1000 bytes; the limit is 1000/),
    ])
    // A cancelled export gives its room back, and reserves no more.
    await lab.hub.call('acme', 'POST', `${exportsPath}/${first.jobId}:cancel`)
    await expect(first.reserve(601)).rejects.toThrow()
    expect(await second.reserve(1000)).toBe(1000)
    second.write.finish('x'.repeat(700))
    await lab.until('acme', second.jobId, 'completed')
    for (const { finish } of held) finish('x')
    lab.letGo('x')
    expect((await lab.order('acme')).status).toBe(202)
  })

  test('have the own quotas of their tenant at once, and of no other', async () => {
    const set = (quota: object) =>
      lab.hub.modules.tenants.operated.update('globex', { export_quota: quota }, { operator: 'test' })
    lab.letGo('x')
    lab.advance(24 * 3_600_000 + 1000)
    await set({ exports_per_day: 1 })
    expect((await lab.order('globex')).status).toBe(202)
    const refused = await lab.order('globex')
    expect([refused.status, refused.body.detail]).toEqual([
      429,
      expect.stringContaining('has requested 1 exports within 24 hours; its limit is 1'),
    ])
    expect((await lab.order('acme')).status).toBe(202)
    await set({ exports_per_day: null, mb_kept: 2 })
    lab.letGo('x'.repeat(2 * mebibyte))
    await lab.completed('globex')
    const full = await lab.order('globex')
    expect([full.status, full.body.detail]).toEqual([429, expect.stringMatching(/the limit is 2097152/)])
    await set({ mb_kept: null })
    expect((await lab.order('globex')).body.detail).toContain('the limit is 1000')
  })

  test('are shown by the metrics: refusals by reason, and the bytes of all tenants', async () => {
    const metrics = new Metrics()
    const { exports } = lab.hub.modules
    const refused = async () => {
      const found = await series(metrics, 'hub_export_refusals_total')
      return ['exports_per_day', 'bytes_kept', 'disk_full'].map(
        (reason) => found[`hub_export_refusals_total{reason="${reason}"}`],
      )
    }
    metrics.showExports(() => exports.figures({ bytes: true }))
    const before = await refused()
    lab.advance(24 * 3_600_000 + 1000)
    for (const tenant of ['acme', 'globex'] as const) await lab.runChores(tenant)
    lab.letGo('x'.repeat(1000))
    await lab.completed('acme')
    lab.letGo('x'.repeat(500))
    await lab.completed('globex')
    expect((await lab.order('acme')).status).toBe(429)
    lab.letGo('')
    for (let count = 1; count < 4; count++) await lab.completed('globex')
    expect((await lab.order('globex')).status).toBe(429)
    free = 511 * mebibyte
    expect((await lab.order('globex')).status).toBe(503)
    free = 512 * mebibyte
    expect(await refused()).toEqual(before.map((count) => count! + 1))
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
    expect(await series(metrics, 'hub_export_bytes_kept')).toEqual({ hub_export_bytes_kept: 1500 })
    expect(await metrics.page()).not.toMatch(/acme|globex/)
    // A process that only answers requests counts its refusals, and does not read every tenant.
    const ofWorker = new Metrics()
    ofWorker.showExports(() => exports.figures({ bytes: false }))
    expect(await series(ofWorker, 'hub_export_bytes_kept')).toEqual({ hub_export_bytes_kept: 0 })
  })
})

test('a file reserves what it is to have, ends where nothing is left, and nothing of it stays', async () => {
  const lab = await openExportLab()
  try {
    const tenant = await lab.openTenant('acme')
    await lab.writeRecords(tenant, { recordType: 'artifact', fields: { title: 'x'.repeat(5000) } })
    const asked: number[] = []
    const reserveUpTo = (most: number) => async (bytes: number) => {
      asked.push(bytes)
      if (bytes > most) throw new Error('no room is left')
      return lab.database.withTenant('acme', async () => bytes + 2000)
    }
    await expect(lab.export(tenant, {}, { reserve: reserveUpTo(4000) })).rejects.toThrow('no room is left')
    expect(await lab.files()).toEqual([])
    asked.length = 0
    const { sizeBytes } = await lab.export(tenant, {}, { reserve: reserveUpTo(100_000) })
    expect(asked.at(-1)! + 2000).toBeGreaterThanOrEqual(sizeBytes)
    expect(asked.every((bytes, at) => at === 0 || bytes > asked[at - 1]! + 2000)).toBe(true)
  } finally {
    await lab.drop()
  }
})

test('an export of no rows counts the seals of its manifest', async () => {
  const lab = await openExportLab()
  try {
    const tenant = await lab.openTenant('acme')
    for (let count = 0; count < 20; count++) {
      await lab.writeRecords(tenant, { recordType: 'artifact', fields: { title: 'x' } })
    }
    const order: Partial<ExportRequest> = { recordTypes: ['decision'], includeProvenance: true }
    const asked: number[] = []
    const written = await lab.export(tenant, order, {
      reserve: async (bytes) => {
        asked.push(bytes)
        return bytes
      },
    })
    const manifestBytes = (await stat(written.manifestPath)).size
    expect([written.rows, written.bytes.length]).toEqual([0, 0])
    expect(written.sizeBytes).toBe(manifestBytes)
    const sealsBytes = JSON.stringify(written.manifest.seals).length - 2
    expect(sealsBytes).toBeGreaterThan(20 * 200)
    // While the manifest is written, the seals are there twice.
    expect(asked.at(-1)).toBeGreaterThanOrEqual(2 * sealsBytes)
    const upTo = async (bytes: number) => {
      if (bytes > 2000) throw new Error('no room is left')
      return bytes
    }
    const before = await lab.files()
    await expect(lab.export(tenant, order, { reserve: upTo })).rejects.toThrow('no room is left')
    expect(await lab.files()).toEqual(before)
  } finally {
    await lab.drop()
  }
})

describe('free disk space', () => {
  const settings = { dataDir: '/data', databaseUrl: undefined, storageUrl: undefined, diskFreeMinMb: 1 }
  const enough = async () => mebibyte

  test('is asked of the disks that the service itself writes to', async () => {
    const places = async (given: Partial<typeof settings>, aws = {}) =>
      Object.keys(await createDiskSpace({ ...settings, ...given, aws } as never, enough).free())
    expect(await places({})).toEqual(['database', 'files'])
    expect(await places({ databaseUrl: 'postgresql://db/hub' as never })).toEqual(['files'])
    expect(await places({ storageUrl: 's3://bucket?region=eu-west-1' as never })).toEqual(['database'])
    expect(await places({ storageUrl: 'file:///files' as never })).toEqual(['database', 'files'])
  })

  test('names the disk that is full, and is enough at the floor', async () => {
    await createDiskSpace(settings, enough).requireRoom()
    const disk = createDiskSpace({ ...settings, storageUrl: 'file:///files' as never }, async (path) =>
      path === '/files' ? mebibyte - 1 : mebibyte,
    )
    await expect(disk.requireRoom()).rejects.toMatchObject({
      slug: 'hub-unavailable',
      extensions: { full: 'files' },
      retryAfterSeconds: 300,
    })
  })

  test('refuses a backup below the floor, for the same reason as an export', async () => {
    await backupSpace('/tmp/hub-no-such-folder', { diskFreeMinMb: 0 }).requireRoom()
    await expect(backupSpace('/tmp/hub-no-such-folder', { diskFreeMinMb: 1e12 }).requireRoom()).rejects.toMatchObject({
      slug: 'hub-unavailable',
      message: expect.stringMatching(/^Storage is full: the disk that the backup/),
      extensions: { full: 'backup' },
      retryAfterSeconds: 300,
    })
  })

  test('is shown by the metrics, with an alarm below the floor', async () => {
    const metrics = new Metrics()
    const disk = createDiskSpace({ ...settings, storageUrl: 'file:///files' as never }, async (path) =>
      path === '/files' ? mebibyte - 1 : mebibyte,
    )
    metrics.showDisk(async () => ({ free: await disk.free(), floorBytes: disk.floorBytes }))
    expect(await series(metrics, 'hub_disk_')).toEqual({
      'hub_disk_free_bytes{place="database"}': mebibyte,
      'hub_disk_free_bytes{place="files"}': mebibyte - 1,
      'hub_disk_full{place="database"}': 0,
      'hub_disk_full{place="files"}': 1,
    })
  })

  test('is that of the nearest folder that exists', async () => {
    const { free } = createDiskSpace({ ...settings, dataDir: '/tmp/hub-no-such-folder/deep' })
    expect((await free()).files).toBeGreaterThan(0)
  })
})
