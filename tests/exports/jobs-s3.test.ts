import { readdir } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Bucket, startBucket } from '../storage/bucket.ts'
import { type ExportsHub, exportsPath, startExportsHub } from './ordered-exports.ts'

/** Exports whose files are in a bucket. */
let bucket: Bucket
let lab: ExportsHub
beforeAll(async () => {
  bucket = await startBucket('hub')
  lab = await startExportsHub({ settings: { HUB_STORAGE_URL: bucket.url } })
})
afterAll(async () => {
  await lab.close()
  await bucket.stop()
})

const stored = async () =>
  (await readdir(bucket.directory, { recursive: true })).filter((name) => name.includes('exp_'))

test.each([
  { format: 'jsonl', verify: true, include_provenance: true },
  { format: 'csv', compression: 'gzip' },
  { format: 'parquet' },
])('are written there and downloaded from there, whole and in parts: %j', async (body) => {
  const jobId = await lab.order('acme', body)
  const { download_url, manifest_url } = await lab.ended('acme', jobId)
  const whole = Buffer.from(await (await fetch(download_url)).arrayBuffer())
  const manifest = JSON.parse(await lab.fetched(manifest_url))
  expect(manifest.file.size_bytes).toBe(whole.length)
  const part = await fetch(download_url, { headers: { range: 'bytes=3-20' } })
  expect(part.status).toBe(206)
  expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(3, 21))).toBe(true)
  const files = await Array.fromAsync(lab.hub.modules.storage.list(`exports/acme/${jobId}/`))
  expect(files).toHaveLength(2)
})

test('go from there when they end', async () => {
  const jobId = await lab.order('acme', {})
  const { download_url } = await lab.ended('acme', jobId)
  expect((await stored()).some((name) => name.includes(jobId))).toBe(true)
  const superuser = await lab.hub.superuserClient()
  await superuser.query("update hub.exports set expires_at = '2020-01-01' where job_id = $1", [jobId])
  const [chore] = lab.hub.modules.exports.chores
  await lab.hub.test.database.withTenant('acme', async (tx) => chore?.run(tx))
  expect(await Array.fromAsync(lab.hub.modules.storage.list(`exports/acme/${jobId}/`))).toEqual([])
  expect((await fetch(download_url)).status).toBe(403)
  expect((await lab.call('acme', 'GET', `${exportsPath}/${jobId}`)).body.status).toBe('expired')
})
