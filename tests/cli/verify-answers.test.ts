import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyFile } from '../../cli/verify/verify-file.ts'
import { decision, pathOf, recordsPath, write } from '../api/record-cases.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { steppedTime } from '../support/stepped-time.ts'

const time = steppedTime()
let hub: TestHub
let directory: string
let keys: string
let certificate: string
let ids: string[]

beforeAll(async () => {
  hub = await startHub({ time })
  directory = await mkdtemp(join(tmpdir(), 'hub-verify-'))
  const erased = await write(hub, 'acme', decision)
  await hub.call('acme', 'DELETE', pathOf(erased, '?reason=Request%2017'))
  time.step({ days: 31 })
  await hub.modules.hub.erasure.run(await hub.tenant('acme'))
  certificate = await answer(pathOf(erased, '/deletion-certificate'))
  ids = [await write(hub, 'acme', decision), await write(hub, 'acme', { ...decision, decision_id: '=1+1' })]
  keys = await save('keys.json', await answer('/.well-known/provenance-keys.json'))
})
afterAll(async () => {
  await hub.stop()
  await rm(directory, { recursive: true, force: true })
})

async function answer(path: string): Promise<string> {
  const { status, text } = await hub.call('acme', 'GET', path)
  expect(status, text).toBe(200)
  return text
}

async function save(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

const verify = async (name: string, content: string | Uint8Array) =>
  (await verifyFile(await save(name, content), { keys })).report

test('one record, as it was answered, laid out anew, compressed, and changed', async () => {
  const record = await answer(pathOf(ids[1]!))
  const good = { verified: true, checked: 1, failed: 0 }
  expect(await verify('record.json', record)).toMatchObject(good)
  expect(await verify('record.json', await answer(pathOf(ids[1]!, '?verify=true')))).toMatchObject(good)
  expect(await verify('pretty', JSON.stringify(JSON.parse(record), null, 2))).toMatchObject(good)
  expect(await verify('record.json.gz', gzipSync(`${record}\n`))).toMatchObject(good)
  const changed = JSON.stringify(JSON.parse(record.replace('approved', 'rejected')), null, 2)
  expect(await verify('changed.json', changed)).toMatchObject({
    verified: false,
    failed: 1,
    failures: [{ line: 1, record_id: ids[1], reason: 'hash-mismatch: the record does not have the stored hash' }],
  })
  const twice = JSON.stringify(JSON.parse(record), null, 2).replace('{', '{"decision_outcome": "rejected",')
  expect((await verify('twice.json', twice)).failures).toEqual([
    { line: null, record_id: null, reason: 'record-malformed: the member "decision_outcome" occurs twice' },
  ])
})

test('a page of records, those related to one, the entries of the log, and a list of records', async () => {
  const page = await answer(`${recordsPath}?limit=1000&verify=true`)
  const { records } = JSON.parse(page) as { records: { record_id: string }[] }
  expect(records.length).toBeGreaterThan(3)
  expect(await verify('page.json', page)).toMatchObject({ verified: true, checked: records.length })
  expect(await verify('list.json', JSON.stringify(records))).toMatchObject({ verified: true, checked: records.length })
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  expect(await verify('records.jsonl', lines)).toMatchObject({ verified: true, checked: records.length })
  expect(await verify('related.json', await answer(pathOf(ids[0]!, '/related')))).toMatchObject({ verified: true })
  const entries = await verify('entries.json', await answer('/api/v1/hub/log/entries?limit=100'))
  expect(entries).toMatchObject({ verified: true, failed: 0 })
  // As many as on the page: the erased one has an entry, and no record.
  expect(entries.checked).toBe(records.length)
  const edited = page.replace(/(?<="record_id":")[^"]*(?=")/, ids[0]!)
  expect((await verify('page.json', edited)).failures).toMatchObject([{ line: 1, record_id: ids[0] }])
})

test('a deletion certificate', async () => {
  expect(await verify('certificate.json', certificate)).toMatchObject({ verified: true, checked: 1, failed: 0 })
  const report = await verify('certificate.json', certificate.replace('Request 17', 'Request 18'))
  expect(report).toMatchObject({ verified: false, checked: 1, failed: 1 })
  expect(report.failures[0]!.reason).toMatch(/^certificate: events_/)
})

test('anything else cannot be checked', async () => {
  for (const [content, message] of [
    ['', 'is empty'],
    ['some text', 'neither JSON, CSV nor Parquet'],
    ['{"keys":[]}', 'no record in this document'],
    ['{"records":[]}', 'no record in this document'],
    ['[1,2]', 'no record in this document'],
  ] as const) {
    await expect(verify('other', content)).rejects.toThrow(message)
  }
})
